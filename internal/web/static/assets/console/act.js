// Sends the actions of a view.

import { Refusal, retry } from "../shared/api.js";
import { explain, notice } from "../shared/notice.js";
import { explainLostSecret } from "./secret.js";

let acting = false; // whether an action runs
let waits = new AbortController(); // aborts the actions that wait to be sent again

/** Drops the waiting actions, because another person may sign in next. */
export function abandonActions() {
  waits.abort();
  waits = new AbortController();
}

/**
 * Returns a function that sends an action and passes its result on. "Try again" sends the same action for the same record,
 * even if the page shows another. After a refusal, what the section shows may be out of date: reload loads it again.
 */
export function actor(section, reload) {
  return async function act(send, done) {
    if (acting) return;
    acting = true;
    section.ariaBusy = "true";
    notice.clear();
    try {
      const { signal } = waits;
      await done(await retry(send, (refusal, seconds) => notice.countDown(refusal, seconds, signal)));
    } catch (error) {
      if (error.name === "AbortError" || explainLostSecret(error)) return;
      explain(error, error instanceof Refusal ? undefined : () => act(send, done), "This may or may not have been done. Trying again is safe: it is done once.");
      if (error instanceof Refusal) setTimeout(reload);
    } finally {
      acting = false;
      section.ariaBusy = null;
    }
  };
}
