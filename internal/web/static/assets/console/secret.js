// The dialog that shows the secret of a new key, once.

import { copy } from "../shared/clipboard.js";
import { notice, stripBidi } from "../shared/notice.js";
import { openKey } from "./address.js";

const byId = (id) => document.getElementById(id);
const dialog = byId("secret");

/** Shows the secret of a new key. The promise resolves when the person says that they have kept it. */
export function showSecret({ name, secret }) {
  byId("secret-title").textContent = stripBidi(`The key for ${name}`);
  byId("secret-key").textContent = secret;
  byId("secret-link").textContent = new URL(`./#key=${secret}`, document.baseURI).href;
  for (const button of dialog.querySelectorAll("[data-copy]")) button.textContent = "Copy";
  dialog.showModal();
  byId("secret-title").focus();
  return new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
}

/** Explains that a key was made and the answer with its secret got lost, if that is the error. Otherwise returns false. */
export function explainLostSecret({ code, message }) {
  if (code !== "secret_shown") return false;
  const id = message.match(/key_\w+/)?.[0];
  const open = id && (() => openKey(id));
  notice.say("The key was made, but its secret got lost on the way", message, open && "Open that key", open);
  return true;
}

dialog.addEventListener("submit", (event) => {
  event.preventDefault();
  dialog.close();
});

dialog.addEventListener("click", async ({ target }) => {
  const name = target.dataset.copy;
  if (name) target.textContent = (await copy(byId(name))) ? "Copied" : "Press Ctrl+C";
});

// Only the button closes the dialog, because nobody can open it again.
dialog.addEventListener("keydown", (event) => event.key === "Escape" && event.preventDefault());
dialog.addEventListener("cancel", (event) => event.preventDefault());
dialog.addEventListener("close", () => {
  for (const id of ["secret-key", "secret-link"]) byId(id).replaceChildren();
});
window.addEventListener("beforeunload", (event) => dialog.open && event.preventDefault());
