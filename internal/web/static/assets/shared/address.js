// The address names the view, so that people can share a view, reload it and return to it.

const moved = new EventTarget();

/** Calls back whenever go or the browser changes the address. */
export function onMove(callback) {
  moved.addEventListener("move", callback);
  window.addEventListener("popstate", callback);
}

/** Goes to another view. The history of the browser keeps the state. */
export function go(address, state = {}) {
  history.pushState(state, "", address);
  moved.dispatchEvent(new Event("move"));
}

/** The cursors of the previous pages, as far as this tab has visited them. */
export const trail = () => history.state?.trail ?? [];
