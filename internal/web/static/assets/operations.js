// The operations of the API that this page uses.

import { Attempt, call } from "./api.js";

/** How many animals a page has. */
export const pageSize = 24;

function at(path, query = {}) {
  const url = new URL(`v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
  return url;
}

/** A page of animals, newest first, and the cursor of the next one if there is one. */
export async function listPets({ status, cursor }, signal) {
  const { body, headers } = await call(at("pets", { limit: pageSize, status, cursor }), { signal });
  return { animals: body, next: nextCursor(headers.get("Link")) };
}

/** One animal, or undefined. */
export const findPet = async (id, signal) => (await call(at("pets", { id }), { signal })).body[0];

/** The order that holds an animal, or undefined. */
export const openOrder = async (petId, signal) => (await call(at("orders", { petId, status: "open", limit: 1 }), { signal })).body[0];

/** How many animals there are of each status. */
export const getInventory = async (signal) => (await call(at("inventory"), { signal })).body;

/** Every category, up to ten pages of them; beyond that a name does not help to find one. */
export async function listCategories(signal) {
  const found = [];
  for (let cursor = "", page = 0; cursor !== undefined && page < 10; page++) {
    const { body, headers } = await call(at("categories", { limit: 100, cursor }), { exact: "id", signal });
    found.push(...body);
    cursor = nextCursor(headers.get("Link"));
  }
  return found;
}

// What makes something is sent under a name, so that a second try of the same makes nothing more.
function making(path, options) {
  const attempt = new Attempt();
  return async (fields, signal) => {
    const body = encode(fields);
    const made = await call(at(path), { method: "POST", body, headers: attempt.headers(body), signal, ...options });
    attempt.done();
    return made.body;
  };
}

export const createPet = making("pets");
export const createCategory = making("categories", { exact: "id" });

/** Makes a function that places one order. Called again, it places the same one. */
export const oneOrder = () => making("orders");

/** Changes what the fields name and leaves the rest. */
export const updatePet = async (id, fields, signal) => (await call(at(`pets/${id}`), { method: "PATCH", body: encode(fields), signal })).body;

export const deletePet = (id, signal) => call(at(`pets/${id}`), { method: "DELETE", signal });

/** Ends an order: how is complete or cancel. */
export const closeOrder = async (id, how, signal) => (await call(at(`orders/${id}/${how}`), { method: "POST", signal })).body;

// What was typed is sent as it is, so that the server, and only the server, says what is wrong with it. A category keeps every digit.
function encode(fields) {
  const members = Object.entries(fields).filter(([, value]) => value !== undefined);
  const written = (name, value) => (name === "categoryId" && /^-?(0|[1-9]\d*)$/.test(value) ? value : JSON.stringify(value));
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${written(name, value)}`).join(",")}}`;
}

// Only the cursor of the link is used: this page may have been reached by another address than the one in the link.
function nextCursor(link) {
  const target = link?.match(/<([^>]*)>\s*;[^,]*\brel="?next\b/)?.[1];
  return target && new URL(target, document.baseURI).searchParams.get("cursor");
}
