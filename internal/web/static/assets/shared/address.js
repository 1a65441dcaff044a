// The address names the view, so that people can share a view, reload it and return to it.

const moved = new EventTarget();

/** Calls back whenever go or the browser changes the address. */
export function onMove(callback) {
  moved.addEventListener("move", callback);
  window.addEventListener("popstate", callback);
}

/** Calls back before go leaves a view, while the address still names it. */
export const onLeave = (callback) => moved.addEventListener("leave", callback);

/** Goes to another view. The history of the browser keeps the state. */
export function go(address, state = {}) {
  moved.dispatchEvent(new Event("leave"));
  history.pushState(state, "", address);
  moved.dispatchEvent(new Event("move"));
}

/** Goes to another view, which takes the place of this one in the history of the browser. */
export function replace(address) {
  history.replaceState({}, "", address);
  moved.dispatchEvent(new Event("move"));
}

/** The cursors of the previous pages, as far as this tab has visited them. */
export const trail = () => history.state?.trail ?? [];
