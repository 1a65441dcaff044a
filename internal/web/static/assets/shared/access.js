// What the key may do. Until the page knows that, CSS hides what only some keys may use.

import { apiKey, apiURL, call } from "./api.js";

const root = document.documentElement;

/** The key that the page uses, as the server describes it. From now on the page shows what this key may do. */
export async function getOwnKey(signal) {
  const key = apiKey.get();
  const { body } = await call(apiURL("key"), { signal });
  if (key === apiKey.get()) root.dataset.access = body.access; // read, write or admin
  return body;
}

/** Asks the server what the key may do, unless the page knows it. The promise is false if no answer came. */
export async function learnAccess() {
  if (!root.dataset.access) await getOwnKey().catch(() => {});
  return Boolean(root.dataset.access);
}

/** Forgets what the key may do. Must be called when the key changes, and when the server refuses something to it. */
export const forgetAccess = () => delete root.dataset.access;
