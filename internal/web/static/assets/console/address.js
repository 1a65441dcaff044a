// The views of the console, and their addresses: which keys, which page of them, the open key, the webhooks, the open one, or
// the store.

import { go, trail } from "../shared/address.js";

/** The view that the address names, without invalid parts. */
export function here() {
  const query = new URLSearchParams(location.search);
  const page = query.get("page");
  return {
    store: query.get("view") === "store",
    webhooks: query.get("view") === "webhooks",
    all: query.get("show") === "all",
    cursor: query.get("cursor") ?? "",
    page: /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1,
    key: query.get("key") ?? "",
    webhook: query.get("webhook") ?? "",
  };
}

/** The address of a view. */
export function link({ store, webhooks, all, cursor, page, key, webhook }) {
  const query = new URLSearchParams();
  if (store) query.set("view", "store");
  else if (webhooks) query.set("view", "webhooks");
  if (all) query.set("show", "all");
  if (cursor) query.set("cursor", cursor);
  if (cursor && page > 1) query.set("page", page);
  if (key) query.set("key", key);
  if (webhook) query.set("webhook", webhook);
  return query.size ? `console?${query}` : "console";
}

export const goNext = (next) => go(link({ ...here(), cursor: next, page: here().page + 1 }), { trail: [...trail(), here().cursor] });

/** Goes to the previous page, or to the first page if this tab does not know the previous page. */
export function goBack() {
  if (!trail().length) return goFirst();
  go(link({ ...here(), cursor: trail().at(-1), page: here().page - 1 }), { trail: trail().slice(0, -1) });
}

export const goFirst = () => go(link({ all: here().all }));

/** Opens a key. Closing the key leads back to the list. */
export const openKey = (key) => go(link({ ...here(), store: false, webhooks: false, webhook: "", key }), { trail: trail(), opened: true });

/** Opens a webhook. Closing it leads back to the list. */
export const openHook = (webhook) => go(link({ webhook }), { opened: true });

/** Closes the key or the webhook that is open. */
export function closeOne() {
  if (history.state?.opened) history.back();
  else if (here().webhook) go(link({ webhooks: true }));
  else go(link({ ...here(), key: "" }), { trail: trail() });
}
