// The tabs of this store in a browser sign in together: a new tab takes the key of a signed-in tab, and all tabs sign out at
// once.

import { apiKey, keyFault, newIdempotencyKey } from "./api.js";

const askTimeout = 300; // milliseconds
const channel = new BroadcastChannel("petstore-sign-in");

/** Asks the other tabs for their key, unless this tab has one. */
export async function borrowKey() {
  if (apiKey.get()) return;
  const question = newIdempotencyKey();
  const answered = new AbortController();
  await new Promise((resolve) => {
    setTimeout(resolve, askTimeout);
    const take = ({ data }) => {
      if (data.answers !== question || keyFault(data.key)) return;
      if (!apiKey.get()) apiKey.set(data.key);
      resolve();
    };
    channel.addEventListener("message", take, { signal: answered.signal });
    channel.postMessage({ question });
  });
  answered.abort();
}

/** Forgets the key in all tabs, and on this device. */
export function signOutEverywhere() {
  apiKey.forget();
  channel.postMessage({ signOut: true });
}

/** Calls back when another tab has signed out. */
export const onSignOut = (callback) =>
  channel.addEventListener("message", ({ data }) => {
    if (!data.signOut) return;
    apiKey.forget();
    callback();
  });

channel.addEventListener("message", ({ data }) => {
  const key = apiKey.accepted();
  if (data.question && key) channel.postMessage({ answers: data.question, key });
});
