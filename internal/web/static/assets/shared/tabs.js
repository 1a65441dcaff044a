// The tabs of this store in one browser sign in together: a signed-in tab hands its key to a new tab, and signing out signs
// out all tabs. Only pages of the same origin hear each other.

import { apiKey, keyFault, newIdempotencyKey } from "./api.js";

const askTimeout = 300; // milliseconds
const channel = openChannel();

function openChannel() {
  try {
    return new BroadcastChannel("petstore-sign-in");
  } catch {
    return new MessageChannel().port1; // the browser stores no data for this site, so tabs cannot share any
  }
}

/** Asks the other tabs for their key, unless this tab has one. The promise resolves when it is known whether one answers. */
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

/** Makes this device remember the key, or only the tabs that are open. */
export function remember(wanted) {
  if (!wanted) channel.postMessage({ keep: apiKey.get() });
  apiKey.remember(wanted);
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
  if (data.keep) apiKey.keep(data.keep);
});
