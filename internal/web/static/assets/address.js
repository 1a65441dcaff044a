// The address says what is shown: filter, page and open animal. So it can be shared, reloaded and gone back to.

export const statuses = ["available", "pending", "sold"];

/** What the address asks for. What it cannot mean is left out. */
export function here() {
  const query = new URLSearchParams(location.search);
  const status = query.get("status");
  const number = (name) => (/^[1-9]\d{0,15}$/.test(query.get(name)) ? query.get(name) : "");
  return {
    status: statuses.includes(status) ? status : "",
    cursor: query.get("cursor") ?? "",
    page: Number(number("page")) || 1,
    animal: number("animal"),
  };
}

/** The address of a view. */
export function link({ status, cursor, page, animal }) {
  const query = new URLSearchParams();
  if (status) query.set("status", status);
  if (cursor) query.set("cursor", cursor);
  if (cursor && page > 1) query.set("page", page);
  if (animal) query.set("animal", animal);
  return query.size ? `?${query}` : "./";
}

/** The cursors of the pages before this one, as far as this tab came through them. */
export const trail = () => history.state?.trail ?? [];

const moved = new EventTarget();

/** Calls back whenever the address changes, by go or by the browser. */
export function onMove(callback) {
  moved.addEventListener("move", callback);
  window.addEventListener("popstate", callback);
}

/** Goes to another view. The state is kept in the history beside its address. */
export function go(address, state = {}) {
  history.pushState(state, "", address);
  moved.dispatchEvent(new Event("move"));
}

export const goNext = (next) =>
  go(link({ ...here(), cursor: next, page: here().page + 1 }), { trail: [...trail(), here().cursor] });

/** Goes one page back, or to the first if this tab does not know the way. */
export function goBack() {
  const cursor = trail().at(-1) ?? "";
  go(link({ ...here(), cursor, page: here().page - 1 }), { trail: trail().slice(0, -1) });
}

export const goFirst = () => go(link({ status: here().status }));

/** Opens an animal over the list, which is where closing it leads back to. */
export const openAnimal = (animal) => go(link({ ...here(), animal }), { trail: trail(), opened: true });

export function closeAnimal() {
  if (history.state?.opened) history.back();
  else go(link({ ...here(), animal: "" }), { trail: trail() });
}
