// Questions that are asked before something is done.

import { straight } from "./notice.js";

const byId = (id) => document.getElementById(id);

// Opens a dialog. The promise is true if its form was sent, false if the dialog was closed otherwise.
function answered(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

for (const dialog of [byId("ask"), byId("reserve")]) {
  dialog.addEventListener("submit", (event) => {
    event.preventDefault(); // the policy of this page lets no form be sent anywhere
    dialog.close("yes");
  });
  dialog.querySelector("[type=button]").addEventListener("click", () => dialog.close());
}

/** Asks before something that cannot be undone. */
export function askFirst(title, text, label) {
  byId("ask-title").textContent = straight(title);
  byId("ask-text").textContent = text;
  byId("ask-yes").textContent = label;
  return answered(byId("ask"));
}

/** Asks for whom and for how long. What was typed for the same animal is there again until it is forgotten. */
export async function askReservation({ id, name }) {
  byId("reserve-title").textContent = `Reserve ${name}`;
  if (byId("reserve").dataset.animal !== String(id)) forgetReservation();
  byId("reserve").dataset.animal = id;
  if (!(await answered(byId("reserve")))) return undefined;
  const { reference, hold } = Object.fromEntries(new FormData(byId("reserve-form")));
  return { reference: reference || undefined, holdSeconds: Number(hold) || undefined };
}

/** Forgets what was typed for a reservation. */
export const forgetReservation = () => byId("reserve-form").reset();

/** Whether the keyboard is at nothing that can be seen. A browser may notice late that the element with the focus is hidden. */
export const isLost = () => document.activeElement === document.body || !document.activeElement.checkVisibility();

/** Closes what is open, because what it was opened for is no longer shown. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
}
