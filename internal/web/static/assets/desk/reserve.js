// The dialog that asks for whom an animal is reserved, and for how long. It also changes a reservation.

import { confirmed, watchDialog } from "../shared/dialogs.js";
import { stripBidi } from "../shared/notice.js";
import { orderUpdater } from "./operations.js";
import { exactly } from "./time.js";
import { capitalize, duration } from "./words.js";

const byId = (id) => document.getElementById(id);
const dialog = byId("reserve");
const form = byId("reserve-form");

watchDialog(dialog);

// The store's own hold is the one with an empty value: the server knows its length best.
const usual = Number(document.documentElement.dataset.hold) || 259_200;
const lengths = [...new Set([3600, 86_400, 259_200, 604_800, 2_592_000, usual])].sort((a, b) => a - b);
const holds = () =>
  lengths.map((seconds) =>
    seconds === usual ? new Option(`${capitalize(duration(seconds))} (usual)`, "", true, true) : new Option(capitalize(duration(seconds)), seconds),
  );
const ends = ({ expiresAt }) => [
  new Option(`As it is: ${exactly(expiresAt)}`, "", true, true),
  ...lengths.map((seconds) => new Option(`In ${duration(seconds)}`, seconds)),
];

// Opens the dialog. It keeps the text typed for the same subject until forgetReservation.
async function ask(subject, { title, label, send, options, reference = "" }) {
  byId("reserve-title").textContent = stripBidi(title);
  document.querySelector("label[for=hold]").textContent = label;
  byId("send-reserve").textContent = send;
  if (dialog.dataset.subject !== subject) {
    dialog.dataset.subject = subject;
    byId("hold").replaceChildren(...options);
    byId("reference").value = reference;
  }
  return (await confirmed(dialog)) && Object.fromEntries(new FormData(form));
}

/** Asks for a reference and a hold. */
export async function askReservation({ id, name }) {
  const typed = await ask(`animal ${id}`, { title: `Reserve ${name}`, label: "Hold for", send: "Reserve", options: holds() });
  return typed && { reference: typed.reference || undefined, holdSeconds: Number(typed.hold) || undefined };
}

/** Asks how a reservation changes. Only what differs is in the result. */
export async function askOrderChange({ name }, order) {
  const before = order.reference ?? "";
  const typed = await ask(`order ${order.id}`, {
    title: `Reservation of ${name}`, label: "The hold ends", send: "Save", options: ends(order), reference: before,
  });
  if (!typed) forgetReservation();
  if (!typed || (typed.reference === before && !typed.hold)) return undefined;
  return { reference: typed.reference === before ? undefined : typed.reference || null, holdSeconds: Number(typed.hold) || undefined };
}

/** The action that changes a reservation. */
export const orderChange = (fields) => (animal, order, update = orderUpdater(order.id)) => ({
  after: {
    animal,
    order: {
      ...order,
      reference: fields.reference === undefined ? order.reference : (fields.reference ?? undefined),
      expiresAt: fields.holdSeconds ? new Date(Date.now() + fields.holdSeconds * 1000).toISOString() : order.expiresAt,
    },
  },
  said: "The reservation was changed.",
  send: async (signal) => ({ animal, order: await update(fields, signal) }),
});

export function forgetReservation() {
  dialog.dataset.subject = "";
  form.reset();
}
