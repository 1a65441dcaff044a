// The operations of the API that the desk uses.

import { Attempt, apiURL, call, nextCursor } from "../shared/api.js";

export const pageSize = 24;

/** A page of animals with their profiles, newest first, and the cursor of the next page if there is one. */
export async function listPets({ status, category, q, id, cursor, limit = pageSize }, signal) {
  const { body, headers } = await call(apiURL("pets", { limit, status, categoryId: category, q, id, include: "profile", cursor }), { signal });
  return { animals: body, next: nextCursor(headers) };
}

/** The address of a photo on this page's own host. The rest is ignored, because it may name another host, as in nextCursor. */
export const photoURL = (url) => new URL(url.slice(url.lastIndexOf("/photos/") + 1), document.baseURI).href;

/** The animal with that id, or undefined. If include is "profile", the animal has its profile. */
export const findPet = async (id, signal, include) => (await call(apiURL("pets", { id, include }), { signal })).body[0];

/** The open order that holds an animal, or undefined. */
export const openOrder = async (petId, signal) => (await call(apiURL("orders", { petId, status: "open", limit: 1 }), { signal })).body[0];

export const getInventory = async (signal) => (await call(apiURL("inventory"), { signal })).body;

// Pages of a list, one after the other, at most ten, because nobody reads a longer list. Ends early if the callback says that
// enough was found. Returns what was found, and whether there is more.
async function listPages(path, query, options, most = 10, enough = () => false) {
  const found = [];
  let cursor = "";
  for (let page = 0; cursor !== undefined && page < most; page++) {
    const { body, headers } = await call(apiURL(path, { ...query, limit: 100, cursor }), options);
    found.push(...body);
    cursor = nextCursor(headers);
    if (enough(body)) break;
  }
  return { found, more: cursor !== undefined };
}

/** The categories: {found, more}. */
export const listCategories = (signal) => listPages("categories", {}, { exact: "id", signal });

/** The open orders: {found, more}. */
export const listOpenOrders = (signal) => listPages("orders", { status: "open" }, { signal });

/** Calls back with each page of the reserved animals and their profiles, until the callback says that it has enough. */
export const listReservedPets = (most, enough, signal) => listPages("pets", { status: "pending", include: "profile" }, { signal }, most, enough);

// Returns a function that sends a change. The change has an Idempotency-Key, so that the server makes it once, even if the
// function is called again because no answer came, or the network repeats the request. Other fields are another change.
function writing(method, path, options) {
  const attempt = new Attempt();
  return async (fields, signal) => {
    const body = fields && encode(fields);
    const made = await call(apiURL(path), { method, body, headers: attempt.headers(body ?? ""), signal, ...options });
    attempt.done();
    return made.body;
  };
}

export const createPet = writing("POST", "pets");
export const petUpdater = (id) => writing("PATCH", `pets/${id}`);
export const petRemover = (id) => writing("DELETE", `pets/${id}`);
export const createCategory = writing("POST", "categories", { exact: "id" });
export const categoryNamer = (id) => writing("PUT", `categories/${id}`, { exact: "id" });
export const categoryRemover = (id) => writing("DELETE", `categories/${id}`);
export const orderPlacer = () => writing("POST", "orders");
export const orderUpdater = (id) => writing("PATCH", `orders/${id}`);
export const profileUpdater = (id) => writing("PATCH", `pets/${id}/profile`);
export const photoCoverer = (petId, id) => writing("POST", `pets/${petId}/photos/${id}/cover`);
export const photoRemover = (petId, id) => writing("DELETE", `pets/${petId}/photos/${id}`);

/** Completes or cancels an order. The argument how is "complete" or "cancel". */
export const closeOrder = async (id, how, signal) => (await call(apiURL(`orders/${id}/${how}`), { method: "POST", signal })).body;

// The desk sends the typed text unchanged, because only the server validates it. A category keeps all its digits.
function encode(fields) {
  const members = Object.entries(fields).filter(([, value]) => value !== undefined);
  const written = (name, value) => (name === "categoryId" && /^-?(0|[1-9]\d*)$/.test(value) ? value : JSON.stringify(value));
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${written(name, value)}`).join(",")}}`;
}

/** The newest orders of an animal, newest first. An open one is the first. */
export const ordersOf = async (petId, signal) => (await call(apiURL("orders", { petId, limit: 100 }), { signal })).body;

/** A page of the events of an animal after a position, oldest first: {events, after, end}. */
export async function eventsOf(petId, after, signal) {
  const { body, headers } = await call(apiURL("events", { petId, after, limit: 1000 }), { signal });
  const next = new URL(headers.get("Link")?.match(/<([^>]*)>/)?.[1] ?? "", document.baseURI).searchParams.get("after");
  return { events: body, after: next ?? after, end: !next || headers.get("Petstore-Feed-End") === "true" };
}
