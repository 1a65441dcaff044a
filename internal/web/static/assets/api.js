// The API as this page uses it. Everything that can go wrong is a Refusal, an Unreachable, or an AbortError.

/** An answer that is not a success, with the server's own words. */
export class Refusal extends Error {
  constructor(status, code, message, retryAfter) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }
}

/** No answer came. */
export class Unreachable extends Error {}

/** The API key lives in the session of this tab, nowhere else. */
export const apiKey = {
  get: () => sessionStorage.getItem("petstore-api-key") ?? "",
  set: (value) => sessionStorage.setItem("petstore-api-key", value),
  forget: () => sessionStorage.removeItem("petstore-api-key"),
};

/** Events of type "limits" tell what is left after each answer: {limit, remaining, reset}. */
export const limits = new EventTarget();

const pets = () => new URL("v1/pets", document.baseURI);

/** The address of the first page of a filter. */
export function firstPage(status) {
  const url = pets();
  url.searchParams.set("limit", "24");
  if (status) url.searchParams.set("status", status);
  return url;
}

/** A page of animals, and the address of the next one if there is one. */
export async function listPets(url, signal) {
  const { body, headers } = await call(url, { signal });
  return { animals: body, next: nextPage(headers.get("Link"), url) };
}

/** Sends a new animal. The same attempt sent again never adds a second one. */
export async function createPet({ body, once }, signal) {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": once };
  return (await call(pets(), { method: "POST", body, headers, signal })).body;
}

/** A name for one attempt to add an animal. */
export function newAttempt(body) {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return { body, once: Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/** Runs a task until it is no longer told to come back later, and backs off a little more each time. */
export async function patiently(task, pause) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      if (!error.retryAfter) throw error;
      await pause(error, Math.max(error.retryAfter, Math.min(2 ** attempt, 60)));
    }
  }
}

async function call(url, options) {
  const headers = { ...options.headers, Authorization: `Bearer ${apiKey.get()}` };
  let answer, text;
  try {
    answer = await fetch(url, { ...options, headers, cache: "no-store" });
    text = await answer.text();
  } catch (error) {
    throw error.name === "AbortError" ? error : new Unreachable();
  }
  announceLimits(answer.headers);
  const body = parse(text);
  if (answer.ok && body) return { body, headers: answer.headers };
  throw new Refusal(
    answer.status,
    body?.code,
    body?.message ?? `The server answered ${answer.status} without saying why.`,
    [429, 503].includes(answer.status) && Math.max(1, Number(answer.headers.get("Retry-After")) || 1),
  );
}

// A category may have more digits than a JavaScript number: it is kept as it was written.
function parse(text) {
  try {
    return JSON.parse(text, (name, value, context) => (name === "categoryId" ? context?.source ?? value : value));
  } catch {
    return undefined;
  }
}

// The host of the next page is left out: this page may have been reached by another address than the one in the link.
function nextPage(link, base) {
  const target = link?.match(/<([^>]*)>\s*;[^,]*\brel="?next\b/)?.[1];
  if (target === undefined) return undefined;
  const { pathname, search } = new URL(target, base);
  return new URL(pathname + search, base);
}

function announceLimits(headers) {
  const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`));
  if (limit === null) return;
  const detail = { limit: Number(limit), remaining: Number(remaining), reset: new Date(Number(reset) * 1000) };
  limits.dispatchEvent(new CustomEvent("limits", { detail }));
}
