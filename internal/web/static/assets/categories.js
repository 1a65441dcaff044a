// Categories are names for numbers. An animal may carry any number: one without a name is shown as it is.

import { Refusal } from "./api.js";
import { straight } from "./notice.js";
import { createCategory, listCategories } from "./operations.js";

let names = new Map(); // by number, which is text: it may have more digits than a JavaScript number

/** Fetches every name. */
export async function loadCategories(signal) {
  names = new Map((await listCategories(signal)).map(({ id, name }) => [String(id), name]));
}

/** What people call a category. */
export const categoryName = (id) => straight(names.get(String(id)) ?? `Category\u00a0${id}`);

/** What to type for a category. */
export const categoryText = (id) => names.get(String(id)) ?? String(id);

const integer = /^-?(0|[1-9]\d*)$/;

// A name as it is written wins, then the same name in other letters, then a number.
function find(text) {
  const folded = text.toLowerCase();
  for (const same of [(name) => name === text, (name) => name.toLowerCase() === folded]) {
    for (const [id, name] of names) if (same(name)) return id;
  }
  return integer.test(text) ? text : undefined;
}

/** The number of what was typed. A name that no category has becomes a new category, if one is to be made. */
export async function categoryNumber(typed, signal, make) {
  const text = typed.trim();
  const found = find(text);
  if (found !== undefined || text === "") return found;
  if (!make) return "0";
  try {
    const { id, name } = await createCategory({ name: text }, signal);
    names.set(String(id), name);
    return String(id);
  } catch (error) {
    const taken = error.code === "name_taken" && error.message.match(/-?\d+/)?.[0]; // the category that has the name
    if (taken) {
      names.set(taken, text);
      return taken;
    }
    if (error.status !== 400) throw error;
    throw new Refusal(400, error.code, error.message.replace(/^name /, "categoryId "));
  }
}

/** Offers the names in an input and says below it what will happen with what is typed. */
export function watchPicker(input, offers, hint) {
  const explain = () => {
    const text = input.value.trim();
    const id = find(text);
    const says = !text
      ? "Pick a name, or type a new one or a number."
      : id === undefined
        ? `“${text}” is new: the category is made when you save.`
        : names.has(id)
          ? `${names.get(id)} is category ${id}.`
          : `This is category ${id}.`;
    hint.textContent = straight(says);
  };
  input.addEventListener("input", explain);
  return () => {
    offers.replaceChildren(...[...names.values()].map((name) => Object.assign(document.createElement("option"), { value: name })));
    explain();
  };
}
