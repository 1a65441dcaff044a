// The dialog that asks for whom an animal is reserved, and for how long.

import { confirmed, watchDialog } from "../shared/dialogs.js";
import { capitalize, duration } from "./words.js";

const byId = (id) => document.getElementById(id);

watchDialog(byId("reserve"));

// The store's own hold is the one with an empty value: the server knows its length best.
const usual = Number(document.documentElement.dataset.hold) || 259_200;
const holds = [...new Set([3600, 86_400, 259_200, 604_800, 2_592_000, usual])].sort((a, b) => a - b);
byId("hold").append(
  ...holds.map((seconds) =>
    seconds === usual ? new Option(`${capitalize(duration(seconds))} (usual)`, "", true, true) : new Option(capitalize(duration(seconds)), seconds),
  ),
);

/** Asks for a reference and a hold. The dialog keeps the text typed for the same animal until forgetReservation. */
export async function askReservation({ id, name }) {
  byId("reserve-title").textContent = `Reserve ${name}`;
  if (byId("reserve").dataset.animal !== String(id)) forgetReservation();
  byId("reserve").dataset.animal = id;
  if (!(await confirmed(byId("reserve")))) return undefined;
  const { reference, hold } = Object.fromEntries(new FormData(byId("reserve-form")));
  return { reference: reference || undefined, holdSeconds: Number(hold) || undefined };
}

export const forgetReservation = () => byId("reserve-form").reset();
