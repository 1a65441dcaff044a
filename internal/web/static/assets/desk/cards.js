import { here, link } from "./address.js";
import { categoryName } from "./categories.js";
import { draw } from "./portrait.js";
import { statusName } from "./words.js";

const template = document.getElementById("card").content.firstElementChild;

/** Writes a status into its label. */
export function showStatus(label, status) {
  label.querySelector("span").textContent = statusName(status);
  label.querySelector("use").setAttribute("href", `#${status}`);
  label.dataset.status = status;
}

// A card keeps its element while its animal changes, so that the keyboard focus and the screen reader keep their place.
function fill(item, animal) {
  const shown = JSON.stringify([animal, categoryName(animal.categoryId), location.search]);
  if (item.dataset.shown === shown) return item;
  const name = item.querySelector(".name a");
  name.textContent = name.title = animal.name;
  name.href = link({ ...here(), animal: animal.id });
  name.dataset.animal = animal.id;
  item.querySelector(".meta").textContent = `${categoryName(animal.categoryId)} · No.\u00a0${animal.id}`;
  showStatus(item.querySelector(".status"), animal.status);
  draw(item.querySelector(".portrait"), animal.id, categoryName(animal.categoryId));
  item.dataset.shown = shown;
  return item;
}

/** Shows exactly these animals in a list. Anyone may have written the names, so the list shows them only as text. */
export function showCards(list, animals) {
  const wanted = new Set(animals.map(({ id }) => String(id)));
  const there = new Map();
  for (const item of [...list.children]) {
    if (wanted.has(item.dataset.id)) there.set(item.dataset.id, item);
    else item.remove();
  }
  for (const [i, animal] of animals.entries()) {
    const item = there.get(String(animal.id)) ?? template.cloneNode(true);
    item.dataset.id = animal.id;
    if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null);
    fill(item, animal);
  }
}
