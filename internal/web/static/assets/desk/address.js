// The views of the desk, and their addresses: view, filter, page and open animal.

import { go, trail } from "../shared/address.js";

export const statuses = ["available", "pending", "sold"];
const views = ["reservations", "categories"]; // the views beside the list

/** The view that the address names, without invalid parts. */
export function here() {
  const query = new URLSearchParams(location.search);
  const status = query.get("status");
  const number = (name) => (/^[1-9]\d{0,15}$/.test(query.get(name)) ? query.get(name) : "");
  return {
    view: views.find((view) => view === query.get("view")) ?? "",
    status: statuses.includes(status) ? status : "",
    cursor: query.get("cursor") ?? "",
    page: Number(number("page")) || 1,
    animal: number("animal"),
  };
}

/** The address of a view. */
export function link({ view, status, cursor, page, animal }) {
  const query = new URLSearchParams();
  if (view) query.set("view", view);
  if (status) query.set("status", status);
  if (cursor) query.set("cursor", cursor);
  if (cursor && page > 1) query.set("page", page);
  if (animal) query.set("animal", animal);
  return query.size ? `?${query}` : "./";
}

export const goNext = (next) =>
  go(link({ ...here(), cursor: next, page: here().page + 1 }), { trail: [...trail(), here().cursor] });

/** Goes to the previous page, or to the first page if this tab does not know the previous page. */
export function goBack() {
  const cursor = trail().at(-1) ?? "";
  go(link({ ...here(), cursor, page: here().page - 1 }), { trail: trail().slice(0, -1) });
}

export const goFirst = () => go(link({ status: here().status }));

/** Opens an animal. Closing the animal leads back to the list. */
export const openAnimal = (animal) => go(link({ ...here(), animal }), { trail: trail(), opened: true });

export function closeAnimal() {
  if (history.state?.opened) history.back();
  else go(link({ ...here(), animal: "" }), { trail: trail() });
}
