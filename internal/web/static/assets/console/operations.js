// The operations of the API that the console uses.

import { Refusal, apiURL, call, newIdempotencyKey, nextCursor } from "../shared/api.js";

const pageSize = 50;

const keyPath = (id) => `keys/${encodeURIComponent(id)}`;

/** A page of keys, newest first, and the cursor of the next page if there is one. */
export async function listKeys({ all, cursor }, signal) {
  const { body, headers } = await call(apiURL("keys", { limit: pageSize, active: !all && "true", cursor }), { signal });
  return { keys: body, next: nextCursor(headers) };
}

/** The key with that id, or undefined. */
export const findKey = (id, signal) =>
  call(apiURL(keyPath(id)), { signal }).then(({ body }) => body, (error) => (error.status === 404 ? undefined : Promise.reject(error)));

/** What the owner of a key did in each hour of the last 31 days that had requests, oldest first. */
export const getKeyUsage = async (id, signal) => (await call(apiURL(`${keyPath(id)}/usage`, { hours: 744 }), { signal })).body;

export const getStore = async (signal) => (await call(apiURL("store"), { signal })).body;

// The Idempotency-Keys of the requests whose outcome the page does not know. If such a request is sent again, it gets the
// same one, so that the server does the work once.
const unsettled = new Map();

/** Sends a change. If its outcome stays unknown, the next one like it has the same Idempotency-Key. */
export async function write(method, path, fields, signal) {
  const body = fields && JSON.stringify(fields);
  const request = `${method} ${path} ${body}`;
  if (!unsettled.has(request)) unsettled.set(request, newIdempotencyKey());
  try {
    const answer = await call(apiURL(path), { method, body, headers: { "Idempotency-Key": unsettled.get(request) }, signal });
    unsettled.delete(request);
    return answer.body;
  } catch (error) {
    if (error instanceof Refusal && error.status < 500 && error.status !== 429) unsettled.delete(request);
    throw error;
  }
}

/** Forgets the requests whose outcome the page does not know. Must be called when the key changes. */
export const forgetWrites = () => unsettled.clear();

/** Makes a key. Only this answer has its secret. */
export const createKey = (fields, signal) => write("POST", "keys", fields, signal);

export const updateKey = (id, fields, signal) => write("PATCH", keyPath(id), fields, signal);

/** Makes the successor of a key. Only this answer has its secret. */
export const rotateKey = (id, overlapSeconds, signal) => write("POST", `${keyPath(id)}/rotate`, { overlapSeconds }, signal);

export const revokeKey = (id, signal) => write("POST", `${keyPath(id)}/revoke`, undefined, signal);

export const unbanKey = (id, signal) => write("POST", `${keyPath(id)}/unban`, undefined, signal);
