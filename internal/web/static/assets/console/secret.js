// The dialog that shows the secret of a new key or of a webhook, once.

import { copy } from "../shared/clipboard.js";
import { notice, stripBidi } from "../shared/notice.js";
import { openHook, openKey } from "./address.js";

const byId = (id) => document.getElementById(id);
const dialog = byId("secret");

/** Shows the secret of a new key. The promise resolves when the person says that they have kept it. */
export function showSecret({ name, secret }) {
  byId("secret-link").textContent = new URL(`./#key=${secret}`, document.baseURI).href;
  return show(`The key for ${name}`, "Copy it now. The store does not keep it, so nobody can show it again.", "For a program: the API key", secret);
}

/** Shows the secret of a webhook in the same way. */
export const showHookSecret = (name, secret) =>
  show(`The secret of ${name}`, "Copy it now. It is not shown again.", "For the receiver: verifies the signatures, as Standard Webhooks describes", secret);

function show(title, text, label, secret) {
  byId("secret-title").textContent = stripBidi(title);
  byId("secret-text").textContent = text;
  byId("for-program").textContent = label;
  byId("secret-key").textContent = secret;
  byId("secret-person").hidden = !byId("secret-link").textContent;
  for (const button of dialog.querySelectorAll("[data-copy]")) button.textContent = "Copy";
  dialog.showModal();
  byId("secret-title").focus();
  return new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
}

/** Explains that a secret was made and the answer with it got lost, if that is the error. Otherwise returns false. */
export function explainLostSecret({ code, message }) {
  if (code !== "secret_shown") return false;
  const [id, kind] = message.match(/\b(key|wh)_\w+/) ?? [];
  const open = id && (() => (kind === "key" ? openKey : openHook)(id));
  const noun = kind === "wh" ? "webhook" : "key";
  notice.say(`The ${noun} was made, but its secret got lost on the way`, message, open && `Open that ${noun}`, open);
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
