// The question for the API key.

import { forgetAccess } from "./access.js";
import { apiKey, keyFault } from "./api.js";

const byId = (id) => document.getElementById(id);
const panel = byId("key-panel");
const input = byId("key");

// A link may carry the key behind #key=, which no browser sends to a server. It is taken out of the address at once.
function takeKey() {
  const found = location.hash.match(/^#key=(.+)$/)?.[1];
  if (!found) return false;
  history.replaceState(history.state, "", location.pathname + location.search);
  if (keyFault(found)) return false;
  apiKey.set(found);
  forgetAccess();
  return true;
}

/** Shows nothing of the store and asks for a key. */
export function askForKey(reason = "") {
  forgetAccess();
  document.body.dataset.locked = "";
  showPanel(true);
  complain(reason);
}

/** Shows the store. */
export function unlock() {
  delete document.body.dataset.locked;
  showPanel(false);
}

/** Whether the question is what the reader is at. */
export const isAsking = () => panel.contains(document.activeElement);

function complain(reason) {
  byId("key-error").textContent = reason;
  input.ariaInvalid = reason ? "true" : null;
  input.focus();
}

function showPanel(visible) {
  panel.hidden = !visible;
  byId("change-key").ariaExpanded = String(visible);
  byId("forget-key").hidden = !apiKey.get();
}

/** Calls signedIn with each new key, and signedOut when it is to be forgotten. */
export function watchKey(signedIn, signedOut) {
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const key = input.value.trim();
    if (keyFault(key)) {
      complain(key ? keyFault(key) : "Paste or type the API key first.");
      return;
    }
    apiKey.set(key, byId("remember").checked);
    forgetAccess();
    input.value = "";
    complain("");
    signedIn();
  });
  byId("change-key").addEventListener("click", () => {
    showPanel(panel.hidden || !apiKey.get());
    if (!panel.hidden) input.focus();
  });
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !apiKey.get()) return;
    event.stopPropagation();
    showPanel(false);
    byId("change-key").focus();
  });
  byId("forget-key").addEventListener("click", () => {
    apiKey.forget();
    signedOut();
  });
  window.addEventListener("hashchange", () => takeKey() && signedIn());
}

takeKey();
