// The stream of events that a visible tab follows. It goes on while the person moves from view to view.
//
// The visible tabs of a browser share one stream, because a browser opens only six connections to a server over HTTP/1.1. A
// tab that reads a stream hands on each frame. Of two tabs that read the same stream, the later one closes its own and takes
// the frames of the other. If these stop, it reads the stream itself from where it is.

import { Refusal, apiKey, apiURL, newIdempotencyKey, parseJSON } from "../shared/api.js";
import { Silent, longestSilence, readStream } from "../shared/stream.js";

const openTimeout = 1000; // milliseconds within which a stream begins, unless something holds it back
const refusedPause = 300_000; // milliseconds until the page asks again for a stream that it cannot have
const longestPause = 60_000; // milliseconds between attempts to reach the server
const longestAbsence = 600_000; // after more milliseconds, one load costs less than the events that were missed

let key; // the key that the stream uses
let connection; // aborts the stream
let position; // the id of the latest frame
let live = false; // whether events arrive
let hiddenAt = 0;

const channel = new BroadcastChannel("petstore-events");
const tab = `${Date.now()} ${newIdempotencyKey()}`; // sorts by when the tabs were opened
let source; // the tab whose frames this tab takes, if it reads no stream of its own

const told = new EventTarget();

/** Calls back with each event. */
export const onEvent = (callback) => told.addEventListener("event", ({ detail }) => callback(detail));

/** Calls back when the stream begins or fails. If gap is true, the page may have missed changes. */
export const onLive = (callback) => told.addEventListener("live", ({ detail }) => callback(detail));

/** Whether the page hears of every change. */
export const isLive = () => live;

function setLive(now, gap = false) {
  if (live === now && !gap) return;
  if (!now) handOn({ end: true });
  live = now;
  told.dispatchEvent(new CustomEvent("live", { detail: gap }));
}

/** Follows the events. The promise resolves when the page hears of every change from now on, or cannot do so for now. */
export async function follow() {
  if (key !== apiKey.get()) {
    unfollow();
    key = apiKey.get();
  }
  if (!connection) connect();
  if (!live && connection) await connection.begun;
}

/** Closes the stream and forgets its place. */
export function unfollow() {
  disconnect();
  key = position = undefined;
  live = false;
}

function disconnect() {
  handOn({ end: true });
  connection?.abort();
  connection = source = undefined;
}

function connect() {
  disconnect();
  if (!key || document.visibilityState !== "visible") return;
  const mine = (connection = new AbortController());
  mine.begun = new Promise((resolve) => {
    mine.signal.addEventListener("abort", resolve);
    keepReading(mine.signal, resolve);
  });
}

// Reads the stream again whenever it ends. Calls begun as soon as it is known whether events arrive.
async function keepReading(signal, begun) {
  let retry = 3000;
  for (let failures = 0; !signal.aborted; ) {
    let pause = 0;
    const late = setTimeout(() => {
      setLive(false);
      begun();
    }, openTimeout);
    try {
      const from = position;
      let frames = 0;
      await readStream(apiURL("events", { after: from ? "" : "now" }), { last: from, signal }, (frame) => {
        retry = frame.retry ?? retry;
        if (!frame.id || signal.aborted) return;
        clearTimeout(late);
        position = frame.id;
        setLive(true, !from && !frames++);
        failures = 0;
        begun();
        handOn({ frame });
        announce(frame);
      });
      pause = retry;
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 410 && position) {
        handOn({ end: true });
        position = undefined; // the server no longer has the events after that place
        continue;
      }
      setLive(false);
      pause = pauseAfter(error, Math.min(retry * 2 ** failures++, longestPause));
    } finally {
      clearTimeout(late);
    }
    begun();
    await sleep(pause, signal);
  }
}

function announce({ data }) {
  if (data) told.dispatchEvent(new CustomEvent("event", { detail: parseJSON(data) }));
}

// Tells the other tabs about the stream that this tab reads.
function handOn(message) {
  if (live && !source && position) channel.postMessage({ tab, key, position, ...message });
}

channel.addEventListener("message", ({ data }) => {
  if (!connection || data.key !== key) return; // another key may see other events
  if (data.tab === source) {
    if (data.end) return connect();
    reach(data.position);
    if (data.frame) announce(data.frame);
  } else if (data.end || source) return;
  else if (!live || (data.tab < tab && data.position === position)) share(data);
  else if (data.tab > tab) handOn({});
});

// Takes the frames of another tab from now on.
function share(other) {
  const gap = position !== other.position;
  disconnect();
  connection = new AbortController();
  source = other.tab;
  connection.signal.addEventListener("abort", () => clearTimeout(lost));
  reach(other.position);
  setLive(true, gap);
}

let lost; // the timer until the other tab is taken to have crashed

function reach(next) {
  position = next;
  clearTimeout(lost);
  lost = setTimeout(connect, longestSilence);
}

function pauseAfter(error, backoff) {
  if (error.retryAfter) return error.retryAfter * 1000;
  return error instanceof Silent || (error instanceof Refusal && error.status < 500) ? refusedPause : backoff;
}

const sleep = (milliseconds, signal) =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", resolve, { once: true });
  });

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") {
    if (Date.now() - hiddenAt > longestAbsence) position = undefined;
    connect();
  } else {
    hiddenAt = Date.now();
    disconnect();
  }
});
window.addEventListener("online", connect);
