// The operations of the API that the desk uses.

import { Attempt, apiURL, call, nextCursor } from "../shared/api.js";

export const pageSize = 24;

/** A page of animals, newest first, and the cursor of the next page if there is one. */
export async function listPets({ status, cursor }, signal) {
  const { body, headers } = await call(apiURL("pets", { limit: pageSize, status, cursor }), { signal });
  return { animals: body, next: nextCursor(headers) };
}

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

// A create has an Idempotency-Key, so that a repeated request creates nothing more.
function creating(path, options) {
  const attempt = new Attempt();
  return async (fields, signal) => {
    const body = encode(fields);
    const made = await call(apiURL(path), { method: "POST", body, headers: attempt.headers(body), signal, ...options });
    attempt.done();
    return made.body;
  };
}

export const createPet = creating("pets");
export const createCategory = creating("categories", { exact: "id" });

/** Returns a function that gives a category a name. Calling it again with the same name changes nothing more. */
export const categoryNamer = (id) => creating(`categories/${id}`, { method: "PUT", exact: "id" });

export const deleteCategory = (id, signal) => call(apiURL(`categories/${id}`), { method: "DELETE", signal });

/** Returns a function that places an order. Calling it again with the same fields places the same order. */
export const orderPlacer = () => creating("orders");

export const updatePet = async (id, fields, signal) => (await call(apiURL(`pets/${id}`), { method: "PATCH", body: encode(fields), signal })).body;

export const deletePet = (id, signal) => call(apiURL(`pets/${id}`), { method: "DELETE", signal });

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

/** Changes the reference or the hold of an order. A reference of null is removed. */
export const updateOrder = async (id, fields, signal) => (await call(apiURL(`orders/${id}`), { method: "PATCH", body: encode(fields), signal })).body;

/** Changes the profile of an animal. A member of null is removed. */
export const updateProfile = async (id, fields, signal) => (await call(apiURL(`pets/${id}/profile`), { method: "PATCH", body: encode(fields), signal })).body;

export const coverPhoto = (petId, id, signal) => call(apiURL(`pets/${petId}/photos/${id}/cover`), { method: "POST", signal });

export const deletePhoto = (petId, id, signal) => call(apiURL(`pets/${petId}/photos/${id}`), { method: "DELETE", signal });

/** A page of the events of an animal after a position, oldest first: {events, after, end}. */
export async function eventsOf(petId, after, signal) {
  const { body, headers } = await call(apiURL("events", { petId, after, limit: 1000 }), { signal });
  const next = new URL(headers.get("Link")?.match(/<([^>]*)>/)?.[1] ?? "", document.baseURI).searchParams.get("after");
  return { events: body, after: next ?? after, end: !next || headers.get("Petstore-Feed-End") === "true" };
}

/** The address of a photo's file on the page's own host, because the server may know itself by another name. */
export const photoURL = (address) => new URL(address.replace(/^.*\/(?=photos\/)/, ""), document.baseURI).href;
