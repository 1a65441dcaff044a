// Dialogs that ask before an action.

import { stripBidi } from "./notice.js";

const byId = (id) => document.getElementById(id);

const answers = new Map(); // answers the latest question of each dialog

/** Opens a dialog. The promise is true if the person submits its form, and false if the dialog closes in another way. */
export function confirmed(dialog) {
  answers.get(dialog)?.(false);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => answers.set(dialog, resolve));
}

/** Makes the buttons of a dialog answer its question: its form with yes, its first plain button with no. */
export function watchDialog(dialog) {
  // The event may come late, when the dialog is open again with another question.
  dialog.addEventListener("close", () => dialog.open || answers.get(dialog)?.(dialog.returnValue === "yes"));
  dialog.addEventListener("submit", (event) => {
    event.preventDefault(); // the content security policy forbids sending a form
    dialog.close("yes");
  });
  dialog.querySelector("[type=button]").addEventListener("click", () => dialog.close());
}

watchDialog(byId("ask"));

/** Asks for confirmation before an action that cannot be undone. */
export function askToConfirm(title, text, label) {
  byId("ask-title").textContent = stripBidi(title);
  byId("ask-text").textContent = text;
  byId("ask-yes").textContent = label;
  return confirmed(byId("ask"));
}

/** Whether nothing visible has the focus. A browser may notice late that the focused element is hidden. */
export const focusIsLost = () => document.activeElement === document.body || !document.activeElement.checkVisibility();

/** Closes the dialogs that are open, except a dialog that the person must close. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog[open]:not([closedby=none])")) dialog.close();
}
