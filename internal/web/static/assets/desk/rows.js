/**
 * Shows exactly these things in a list, each in a row of its own. A row keeps its element while its thing changes, so that
 * the keyboard focus and the screen reader keep their place.
 */
export function showRows(list, template, things, fill) {
  const wanted = new Set(things.map(({ id }) => String(id)));
  const there = new Map();
  for (const row of [...list.children]) {
    if (wanted.has(row.dataset.id)) there.set(row.dataset.id, row);
    else row.remove();
  }
  for (const [i, thing] of things.entries()) {
    const row = there.get(String(thing.id)) ?? template.content.firstElementChild.cloneNode(true);
    row.dataset.id = thing.id;
    if (list.children[i] !== row) list.insertBefore(row, list.children[i] ?? null);
    fill(row, thing);
  }
}
