// Categories give names to numbers. An animal may have any number. The page shows a number without a name as a number.

import { Refusal } from "../shared/api.js";
import { stripBidi } from "../shared/notice.js";
import { createCategory, listCategories } from "./operations.js";

let names = new Map(); // the names by number; the number is text, because it may have too many digits for JavaScript
let more = false; // whether the store has categories that the page does not know
let changes = 0; // the number of changes; categories loaded before the latest change are out of date

export async function loadCategories(signal) {
  const before = changes;
  const loaded = await listCategories(signal);
  if (before !== changes) return;
  names = new Map(loaded.found.map(({ id, name }) => [String(id), name]));
  more = loaded.more;
}

/** The categories that the page knows, and whether there are more. */
export const allCategories = () => ({ categories: [...names].map(([id, name]) => ({ id, name })), more });

/** Notes that a category has a new name, or none. */
export function setCategory(id, name) {
  changes++;
  if (name === undefined) names.delete(String(id));
  else names.set(String(id), name);
}

/** The numbers of all categories that have names, in the order of the names. */
export const categoryNumbers = () => [...names.keys()].sort((a, b) => names.get(a).localeCompare(names.get(b)));

/** The category as the page shows it. */
export const categoryName = (id) => stripBidi(names.get(String(id)) ?? `Category\u00a0${id}`);

/** The category as a person types it. */
export const categoryText = (id) => names.get(String(id)) ?? String(id);

const integer = /^-?(0|[1-9]\d*)$/;

// An exact name wins, then the same name in upper or lower case, then a number.
function find(text) {
  const folded = text.toLowerCase();
  for (const same of [(name) => name === text, (name) => name.toLowerCase() === folded]) {
    for (const [id, name] of names) if (same(name)) return id;
  }
  return integer.test(text) ? text : undefined;
}

/** The number of the typed category. If make is true, an unknown name becomes a new category. */
export async function categoryNumber(typed, signal, make) {
  const text = typed.trim();
  const found = find(text);
  if (found !== undefined || text === "") return found;
  if (!make) return "0";
  try {
    const { id, name } = await createCategory({ name: text }, signal);
    setCategory(id, name);
    return String(id);
  } catch (error) {
    const taken = error.code === "name_taken" && error.message.match(/-?\d+/)?.[0]; // the category that has the name
    if (taken) {
      setCategory(taken, text);
      return taken;
    }
    if (error.status !== 400) throw error;
    throw new Refusal(400, error.code, error.message.replace(/^name /, "categoryId "));
  }
}

/** Offers the names in an input and explains below it what the typed text means. */
export function watchPicker(input, offers, hint) {
  const explain = () => {
    const text = input.value.trim();
    const id = find(text);
    const says = !text
      ? "Pick a name, or type a new one or a number."
      : id === undefined
        ? `“${text}” is new: the category is created when you save.`
        : names.has(id)
          ? `${names.get(id)} is category ${id}.`
          : `This is category ${id}.`;
    hint.textContent = stripBidi(says);
  };
  input.addEventListener("input", explain);
  return () => {
    offers.replaceChildren(...[...names.values()].map((name) => Object.assign(document.createElement("option"), { value: name })));
    explain();
  };
}
