// The dialog that asks for whom an animal is reserved, and for how long.

import { confirmed, watchDialog } from "../shared/dialogs.js";

const byId = (id) => document.getElementById(id);

watchDialog(byId("reserve"));

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
