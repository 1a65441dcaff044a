// Signing in with an API key.

import { forgetAccess } from "./access.js";
import { apiKey, inWordsOfPage, keyFault } from "./api.js";
import { onSignOut, signOutEverywhere } from "./tabs.js";

const byId = (id) => document.getElementById(id);
const panel = byId("key-panel");
const input = byId("key");

// A link may have the key after #key=. Browsers never send that part to a server. The page removes the key from the address.
function takeKeyFromLink() {
  const found = location.hash.match(/^#key=(.+)$/)?.[1];
  if (!found) return false;
  history.replaceState(history.state, "", location.pathname + location.search);
  if (keyFault(found)) return false;
  apiKey.set(found);
  forgetAccess();
  return true;
}

/** Hides everything and asks for a key. */
export function askForKey(reason = "") {
  forgetAccess();
  document.body.dataset.locked = "";
  showPanel(true);
  showKeyError(reason);
}

export function unlock() {
  delete document.body.dataset.locked;
  showPanel(false);
}

/** Whether the focus is in the panel that asks for the key. */
export const isAsking = () => panel.contains(document.activeElement);

function showKeyError(reason) {
  byId("key-error").textContent = reason;
  input.ariaInvalid = reason ? "true" : null;
  input.focus();
}

function showPanel(visible) {
  panel.hidden = !visible;
  byId("change-key").ariaExpanded = String(visible);
  byId("forget-key").hidden = !apiKey.get();
  byId("remember").checked = byId("remember").disabled = apiKey.isRemembered();
}

/** Calls signedIn after each new key, and signedOut after the key was forgotten, here or in another tab. */
export function watchKey(signedIn, signedOut) {
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const key = input.value.trim().replace(/^.*#key=/, ""); // people may paste the whole link
    if (keyFault(key)) {
      showKeyError(key ? keyFault(key) : inWordsOfPage("Enter the API key first."));
      return;
    }
    apiKey.set(key, byId("remember").checked);
    forgetAccess();
    input.value = "";
    showKeyError("");
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
    signOutEverywhere();
    signedOut();
  });
  onSignOut(signedOut);
  byId("remember").addEventListener("change", () => {
    if (!apiKey.get() || input.value) return; // the choice is for the key that is being typed
    apiKey.remember();
    showPanel(true);
    input.focus();
  });
  window.addEventListener("pageshow", ({ persisted }) => persisted && !apiKey.get() && signedOut()); // another tab signed out
  window.addEventListener("hashchange", () => takeKeyFromLink() && signedIn());
}

takeKeyFromLink();
