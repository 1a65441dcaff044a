// The operations of the API on webhooks.

import { apiURL, call } from "../shared/api.js";
import { write } from "./operations.js";

const path = (id) => `webhooks/${encodeURIComponent(id)}`;
const unlessMissing = (missing) => (error) => (error.status === 404 ? missing : Promise.reject(error));

/** All webhooks, newest first. There are never more than fit on one page. */
export const listWebhooks = async (signal) => (await call(apiURL("webhooks", { limit: 100 }), { signal })).body;

/** The webhook with that id, or undefined. */
export const findWebhook = (id, signal) => call(apiURL(path(id)), { signal }).then(({ body }) => body, unlessMissing(undefined));

/** The latest deliveries of a webhook, newest first. */
export const listDeliveries = (id, signal) => call(apiURL(`${path(id)}/deliveries`, { limit: 20 }), { signal }).then(({ body }) => body, unlessMissing([]));

/** Makes a webhook. Only this answer and that of rotateWebhook have a secret. */
export const createWebhook = (fields) => write("POST", "webhooks", fields);

export const updateWebhook = (id, fields) => write("PATCH", path(id), fields);

export const rotateWebhook = (id) => write("POST", `${path(id)}/rotate`);

export const deleteWebhook = (id) => write("DELETE", path(id));

/** Sends a ping, each time anew, and returns how that went. */
export const pingWebhook = async (id) => (await call(apiURL(`${path(id)}/ping`), { method: "POST" })).body;
