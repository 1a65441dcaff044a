// Dialogs that ask before an action.

import { stripBidi } from "./notice.js";

const byId = (id) => document.getElementById(id);

// Opens a dialog. The promise is true if the person submits its form, and false if the dialog closes in another way.
function confirmed(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

for (const dialog of [byId("ask"), byId("reserve")]) {
  dialog.addEventListener("submit", (event) => {
    event.preventDefault(); // the content security policy forbids sending a form
    dialog.close("yes");
  });
  dialog.querySelector("[type=button]").addEventListener("click", () => dialog.close());
}

/** Asks for confirmation before an action that cannot be undone. */
export function askToConfirm(title, text, label) {
  byId("ask-title").textContent = stripBidi(title);
  byId("ask-text").textContent = text;
  byId("ask-yes").textContent = label;
  return confirmed(byId("ask"));
}

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

/** Whether nothing visible has the focus. A browser may notice late that the focused element is hidden. */
export const focusIsLost = () => document.activeElement === document.body || !document.activeElement.checkVisibility();

export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
}
