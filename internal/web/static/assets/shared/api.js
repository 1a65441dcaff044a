// Calls the API, for every page. A failure is a Refusal, an Unreachable or an AbortError.

/** An answer that is not a success, with the server's message. */
export class Refusal extends Error {
  constructor(status, code, message, retryAfter) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }
}

/** No answer came. */
export class Unreachable extends Error {}

const storageKey = "petstore-api-key";
const answerTimeout = 30_000; // milliseconds

// The storage for the key. If the browser stores no data for this site, the page itself keeps the key while it is open.
const [session, device] = ["sessionStorage", "localStorage"].map((name) => {
  try {
    return window[name];
  } catch {
    const kept = new Map();
    return { getItem: (at) => kept.get(at), setItem: (at, key) => kept.set(at, key), removeItem: (at) => kept.delete(at) };
  }
});

let accepted; // the key that the server accepted last
let previous; // the key that worked last and its storage, until the server has accepted or refused the new key

/** A sentence about the API key in the words of this page: people at the desk never see a key, they have a link. */
export const inWordsOfPage = (text) => text.replaceAll("API key", document.body.dataset.keyWord ?? "API key");

/** What is wrong with the text of an API key, or empty if the page can send the key. */
export const keyFault = (key) => (/^[!-~]+$/.test(key) ? "" : inWordsOfPage("The API key has only plain letters, digits and symbols, without spaces."));

/** The API key. The browser keeps it until this tab is closed, or longer if the person lets this device remember it. */
export const apiKey = {
  get: () => session.getItem(storageKey) || device.getItem(storageKey) || "",
  set(value, remember = false) {
    previous ??= this.get() && { key: this.get(), storage: session.getItem(storageKey) ? session : device };
    session.removeItem(storageKey);
    (remember ? device : session).setItem(storageKey, value);
  },
  /** Records whether the server refused a key. The page forgets a refused key and uses the previous key again. */
  settle(key, refused) {
    if (key !== this.get()) return; // the key has changed meanwhile
    if (refused) {
      for (const storage of [session, device]) if (storage.getItem(storageKey) === key) storage.removeItem(storageKey);
      if (previous && previous.key !== key) previous.storage.setItem(storageKey, previous.key);
    }
    accepted = refused ? undefined : key;
    previous = undefined;
  },
  /** The key, if the server has accepted it in this page. */
  accepted: () => (accepted === apiKey.get() ? accepted : undefined),
  isRemembered: () => !session.getItem(storageKey) && Boolean(device.getItem(storageKey)),
  remember() {
    device.setItem(storageKey, this.get());
    session.removeItem(storageKey);
  },
  forget() {
    accepted = previous = undefined;
    session.removeItem(storageKey);
    device.removeItem(storageKey);
  },
};

/** Dispatches an event "limits" after each answer: {limit, remaining, reset, now}, with times in ms by the server's clock. */
export const limits = new EventTarget();

/** Gives every retry of a request the same Idempotency-Key, so that the server never does the work twice. */
export class Attempt {
  #last;

  headers(body) {
    if (this.#last?.body !== body) this.#last = { body, key: newIdempotencyKey() };
    return { "Idempotency-Key": this.#last.key };
  }

  /** Makes the next request get a new Idempotency-Key, even if its body is the same. */
  done() {
    this.#last = undefined;
  }
}

export function newIdempotencyKey() {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Runs a task again, with growing pauses, as long as the server asks the page to retry later. */
export async function retry(task, pause) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await task(attempt);
    } catch (error) {
      if (!error.retryAfter) throw error;
      await pause(error, Math.max(error.retryAfter, Math.min(2 ** attempt, 60)));
    }
  }
}

/**
 * Calls the API. The argument exact names a field. Integers in that field stay text, so that they keep all their digits. The
 * arguments fetch and timeout take the place of the browser's fetch and of the usual timeout.
 */
export async function call(url, { exact, signal, timeout = answerTimeout, ...options } = {}) {
  const key = apiKey.get();
  let answer, text;
  try {
    const end = AbortSignal.any([AbortSignal.timeout(timeout), ...(signal ? [signal] : [])]);
    answer = await send(url, { ...options, signal: end });
    text = await answer.text();
  } catch (error) {
    throw signal?.aborted || error instanceof Refusal ? error : new Unreachable();
  }
  const read = parseJSON(text, exact);
  apiKey.settle(key, answer.status === 401);
  if (answer.ok && (read || answer.status === 204)) return { body: read, headers: answer.headers };
  throw refusal(answer, read);
}

/** Sends a request with the key. */
export async function send(url, { headers, fetch = window.fetch, ...options }) {
  const key = apiKey.get();
  if (!key) throw new Refusal(401, "unauthorized", "The key was forgotten, perhaps in another tab. Sign in again.");
  const sent = { ...(options.body !== undefined && { "Content-Type": "application/json" }), ...headers, Authorization: `Bearer ${key}` };
  const answer = await fetch(url, { ...options, headers: sent, cache: "no-store" });
  announceLimits(answer.headers);
  return answer;
}

/** The error for an answer, with its JSON. */
export const refusal = ({ status, headers }, read) =>
  new Refusal(
    status,
    read?.code,
    inWordsOfPage(read?.message ?? `The server answered ${status} without saying why.`),
    [429, 503].includes(status) && Math.max(1, Number(headers.get("Retry-After")) || 1),
  );

/** Reads JSON, as call does, or returns undefined. */
export function parseJSON(text, exact = "categoryId") {
  try {
    return JSON.parse(text, (name, value, context) => (name === exact ? context?.source ?? value : value));
  } catch {
    return undefined;
  }
}

function announceLimits(headers) {
  const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`));
  if (limit === null) return;
  const now = Date.parse(headers.get("Date")) || Date.now();
  const detail = { limit: Number(limit), remaining: Number(remaining), reset: Number(reset) * 1000, now };
  limits.dispatchEvent(new CustomEvent("limits", { detail }));
}

/** The address of an operation. Empty parameters are left out. */
export function apiURL(path, query = {}) {
  const url = new URL(`v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
  return url;
}

/** The cursor of the next page. The rest of the link is ignored, because it may name another host than this page. */
export function nextCursor(headers) {
  const target = headers.get("Link")?.match(/<([^>]*)>\s*;[^,]*\brel="?next\b/)?.[1];
  return target && new URL(target, document.baseURI).searchParams.get("cursor");
}
