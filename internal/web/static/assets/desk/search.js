// The search box and the filters above the list. The address keeps what is typed and chosen.

import { go, replace } from "../shared/address.js";
import { here, link, openAnimal } from "./address.js";
import { categoryName, categoryNumbers } from "./categories.js";

const pause = 200; // milliseconds without a key before the page searches

const byId = (id) => document.getElementById(id);
const box = byId("search");
const categories = byId("of-category");

let waiting; // the timer until the page searches for what is typed

/** The number of an animal as people write it (7, #7, No. 7), or undefined. */
export const animalNumber = (text) => text.match(/^(?:#|no\.?|nr\.?|number)?\s*([1-9]\d{0,15})$/i)?.[1];

/** Shows what the address searches for, unless the person is typing something else. */
export function showSearch() {
  const { status, category, q } = here();
  if (!waiting && box.value.trim() !== q) box.value = q;
  for (const chip of document.querySelectorAll(".filter a")) {
    chip.ariaCurrent = chip.dataset.status === status ? "page" : null;
    chip.href = link({ status: chip.dataset.status, category, q });
  }
  showCategories(category);
}

/** Offers the categories that have names. The category in the address is offered even without a name. */
export function showCategories(chosen = here().category) {
  const numbers = categoryNumbers();
  if (chosen && !numbers.includes(chosen)) numbers.push(chosen);
  const offers = [["", "All categories"], ...numbers.map((id) => [id, categoryName(id)])];
  const shown = JSON.stringify(offers);
  if (categories.dataset.shown !== shown) {
    categories.replaceChildren(...offers.map(([value, text]) => new Option(text, value)));
    categories.dataset.shown = shown;
  }
  categories.value = chosen;
}

/** Why the server refuses to search for a text: a title and a sentence. */
export function explainRefusal(q) {
  if ([...q].length > 100) return ["That is too long to search for", "A search has at most 100 characters. Shorten what you typed; nothing is lost."];
  if (!/[\p{L}\p{N}]/u.test(q)) return ["Type a letter or a digit", "A search needs at least one: part of a name, a breed or a number."];
  return ["Those are too many words", "A search has at most eight. Leave out the common ones; nothing is lost."];
}

function search() {
  clearTimeout(waiting);
  waiting = undefined;
  const q = box.value.trim();
  if (q !== here().q) replace(link({ ...here(), q }));
}

box.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(search, pause);
});
window.addEventListener("popstate", () => {
  clearTimeout(waiting); // what is typed belongs to the view that the person has left
  waiting = undefined;
});
box.addEventListener("blur", () => waiting && search()); // a click on an animal must not lose what is typed

byId("find").addEventListener("submit", (event) => {
  event.preventDefault();
  search();
  const number = animalNumber(here().q);
  if (number) openAnimal(number);
});

categories.addEventListener("change", () => go(link({ ...here(), category: categories.value })));

document.addEventListener("keydown", (event) => {
  const elsewhere = event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog");
  if (event.key !== "/" || event.defaultPrevented || elsewhere || document.body.matches("[data-locked]")) return;
  event.preventDefault();
  if (!box.checkVisibility()) go(link({ ...here(), animal: "", view: "" }));
  box.focus();
  box.select();
});
