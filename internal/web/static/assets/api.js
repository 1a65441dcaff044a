// How this page talks to the server. Everything that can go wrong is a Refusal, an Unreachable, or an AbortError.

/** An answer that is not a success, with the server's own words. */
export class Refusal extends Error {
  constructor(status, code, message, retryAfter) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }
}

/** No answer came. */
export class Unreachable extends Error {}

const place = "petstore-api-key";
const patience = 30_000; // milliseconds for an answer

// Where the key is kept. A browser that keeps nothing for this site keeps it while the page is open.
const [session, device] = ["sessionStorage", "localStorage"].map((name) => {
  try {
    return window[name];
  } catch {
    const kept = new Map();
    return { getItem: (at) => kept.get(at), setItem: (at, key) => kept.set(at, key), removeItem: (at) => kept.delete(at) };
  }
});

let before; // the key that worked, and where it is kept, until the one that was set after it works too

/** What is wrong with the text of an API key; empty if it can be sent. */
export const keyFault = (key) => (/^[!-~]+$/.test(key) ? "" : "An API key has only plain letters, digits and signs, and no spaces.");

/** The API key lives in the session of this tab. It outlives the tab only where somebody asked this device to remember it. */
export const apiKey = {
  get: () => session.getItem(place) || device.getItem(place) || "",
  set(value, remember = false) {
    before ??= this.get() && { key: this.get(), storage: session.getItem(place) ? session : device };
    session.removeItem(place);
    (remember ? device : session).setItem(place, value);
  },
  /** Learns whether the server takes a key. It forgets a wrong one, and goes back to the one before if that was right. */
  heard(key, wrong) {
    if (key !== this.get()) return; // there is another one already
    if (wrong) {
      for (const storage of [session, device]) if (storage.getItem(place) === key) storage.removeItem(place);
      if (before && before.key !== key) before.storage.setItem(place, before.key);
    }
    before = undefined;
  },
  forget() {
    before = undefined;
    session.removeItem(place);
    device.removeItem(place);
  },
};

/** Events of type "limits" tell what is left after each answer: {limit, remaining, reset, now}, times in milliseconds of the server's clock. */
export const limits = new EventTarget();

/** Gives what is sent again the same Idempotency-Key as before, so that it is never done twice. */
export class Attempt {
  #last;

  headers(body) {
    if (this.#last?.body !== body) this.#last = { body, key: newIdempotencyKey() };
    return { "Idempotency-Key": this.#last.key };
  }

  /** The next body is something new, even if it is the same. */
  done() {
    this.#last = undefined;
  }
}

function newIdempotencyKey() {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Runs a task until it is no longer told to come back later, and backs off a little more each time. */
export async function patiently(task, pause) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await task(attempt);
    } catch (error) {
      if (!error.retryAfter) throw error;
      await pause(error, Math.max(error.retryAfter, Math.min(2 ** attempt, 60)));
    }
  }
}

/** Asks the API. The integers named in exact are kept as they were written: they may have more digits than a number holds. */
export async function call(url, { exact = "categoryId", headers, body, signal, ...options } = {}) {
  const key = apiKey.get();
  if (!key) throw new Refusal(401, "unauthorized", "The key was forgotten, perhaps in another tab. Sign in again.");
  const sent = { ...headers, Authorization: `Bearer ${key}` };
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let answer, text;
  try {
    const end = AbortSignal.any([AbortSignal.timeout(patience), ...(signal ? [signal] : [])]);
    answer = await fetch(url, { ...options, body, headers: sent, cache: "no-store", signal: end });
    text = await answer.text();
  } catch (error) {
    throw signal?.aborted ? error : new Unreachable();
  }
  announceLimits(answer.headers);
  const read = parse(text, exact);
  apiKey.heard(key, answer.status === 401);
  if (answer.ok && (read || answer.status === 204)) return { body: read, headers: answer.headers };
  throw new Refusal(
    answer.status,
    read?.code,
    read?.message ?? `The server answered ${answer.status} without saying why.`,
    [429, 503].includes(answer.status) && Math.max(1, Number(answer.headers.get("Retry-After")) || 1),
  );
}

function parse(text, exact) {
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
