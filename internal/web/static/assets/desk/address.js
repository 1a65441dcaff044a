// The views of the desk, and their addresses: view, search, filters and open animal.

import { go } from "../shared/address.js";

export const statuses = ["available", "pending", "sold"];
const views = ["reservations", "categories"]; // the views beside the list

/** The view that the address names, without invalid parts. */
export function here() {
  const query = new URLSearchParams(location.search);
  const valid = (name, pattern) => (pattern.test(query.get(name)) ? query.get(name) : "");
  return {
    view: views.find((view) => view === query.get("view")) ?? "",
    status: statuses.includes(query.get("status")) ? query.get("status") : "",
    category: valid("category", /^(0|-?[1-9]\d{0,18})$/),
    q: query.get("q")?.trim() ?? "",
    animal: valid("animal", /^[1-9]\d{0,15}$/),
  };
}

/** The address of a view. */
export function link({ view, status, category, q, animal }) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ view, status, category, q, animal })) if (value) query.set(name, value);
  return query.size ? `?${query}` : "./";
}

/** Opens an animal. Closing the animal leads back to the list. */
export const openAnimal = (animal) => go(link({ ...here(), animal }), { opened: true });

export function closeAnimal() {
  if (history.state?.opened) history.back();
  else go(link({ ...here(), animal: "" }));
}

/** Goes to the list of all animals. */
export const goFirst = () => go(link({}));
