// The view of the categories, in which they are created, renamed and deleted.

import { Refusal, Unreachable, retry } from "../shared/api.js";
import { askToConfirm, focusIsLost } from "../shared/dialogs.js";
import { Notice, explain, notice, say, stripBidi } from "../shared/notice.js";
import { storeName } from "../shared/store.js";
import { link } from "./address.js";
import { allCategories, loadCategories, setCategory } from "./categories.js";
import { categoryNamer, categoryRemover, createCategory } from "./operations.js";
import { showRows } from "./rows.js";

const byId = (id) => document.getElementById(id);
const section = byId("category-list");
const list = section.querySelector("ul");
const title = byId("category-list-title");
const dialog = byId("category");
const input = byId("category-name");
const problems = new Notice(byId("category-notice"));

let waits = new AbortController(); // aborts the changes that wait to be sent again

export const view = {
  section,

  /** Shows that the categories are being loaded. */
  prepare() {
    document.title = `Categories · ${storeName()}`;
    section.ariaBusy = "true";
  },

  /** Whether an event may change what the view shows. */
  concerns: ({ type }) => type.startsWith("category."),

  /** Loads the categories, unless that is among the other requests, and shows the result. */
  async load(signal, others) {
    await (others || loadCategories(signal));
    section.ariaBusy = null;
    show();
  },

  /** Shows nothing, because loading failed. */
  clear() {
    section.ariaBusy = null;
    list.replaceChildren();
    byId("no-categories").hidden = true;
    byId("many-categories").hidden = true;
    waits.abort();
    waits = new AbortController();
  },

  /** Moves the focus to the title after the view was opened. */
  focus: () => title.focus(),
};

function show() {
  const { categories, more } = allCategories();
  showRows(list, byId("category-row"), categories, fill);
  byId("no-categories").hidden = categories.length > 0;
  byId("many-categories").hidden = !more;
  if (dialog.open) showMeanwhile();
  if (focusIsLost() && section.checkVisibility()) title.focus();
}

function fill(row, { id, name }) {
  const shown = JSON.stringify([id, name]);
  if (row.dataset.shown === shown) return;
  row.dataset.shown = shown;
  row.querySelector(".name a").textContent = name;
  row.querySelector(".name a").href = link({ category: id });
  row.querySelector(".meta").textContent = `No.\u00a0${id}`;
  for (const button of row.querySelectorAll("button")) button.ariaLabel = stripBidi(`${button.textContent} ${name}`);
}

const nameOf = (id) => allCategories().categories.find((category) => category.id === id)?.name;

let renaming; // the number and the name of the category to rename, as they were when the dialog was opened
let store; // sends what was typed
let sending; // aborts the request

function openDialog(id) {
  const name = id ? nameOf(id) : "";
  renaming = id ? { id, name } : undefined;
  store = id ? categoryNamer(id) : createCategory;
  byId("category-title").textContent = stripBidi(id ? `Rename ${name}` : "New category");
  byId("send-category").textContent = id ? "Rename" : "Create";
  input.value = name;
  showFault("");
  problems.clear();
  showMeanwhile();
  dialog.showModal();
  input.select();
}

// Says in the dialog what somebody else has done to the category since the dialog was opened.
function showMeanwhile() {
  const now = renaming && nameOf(renaming.id);
  const changed = renaming && now !== renaming.name;
  byId("category-meanwhile").textContent = !changed
    ? ""
    : now === undefined
      ? `Somebody else has deleted this category. Saving gives number ${renaming.id} a name again.`
      : stripBidi(`Somebody else has renamed this category to “${now}”.`);
}

function showFault(text) {
  byId("category-name-error").textContent = text;
  input.ariaInvalid = text ? "true" : null;
  if (text) input.focus();
}

async function submit() {
  const before = renaming && nameOf(renaming.id);
  if (renaming && input.value === before) return dialog.close();
  sending = new AbortController();
  const { signal } = sending;
  const typed = input.value;
  showFault("");
  problems.clear();
  try {
    const { id, name } = await retry(() => store({ name: typed }, signal), (refusal, seconds) => problems.countDown(refusal, seconds, signal));
    dialog.close();
    setCategory(id, name);
    show();
    say(before ? `${before} is now called ${name}.` : `${name} was created.`);
  } catch (error) {
    if (signal.aborted) problems.clear();
    else refuse(error);
  } finally {
    sending = undefined;
  }
}

function refuse(error) {
  if (error instanceof Unreachable) {
    problems.say("The store cannot be reached", "This may or may not have been saved. Send it again when you are back online: it is done once.");
  } else if (!(error instanceof Refusal)) {
    throw error;
  } else if (error.status === 401 || error.code === "forbidden") {
    dialog.close();
    explain(error);
  } else {
    showFault(error.message.replace(/^name /, "The name "));
  }
}

async function remove(id) {
  const name = nameOf(id);
  const text = `The animals of this category stay, and keep its number ${id}. Only the name is deleted.`;
  if (!(await askToConfirm(`Delete the category ${name}?`, text, "Delete"))) return;
  notice.clear();
  sendRemoval(id, name, categoryRemover(id));
}

async function sendRemoval(id, name, send) {
  try {
    await retry(() => send(), (refusal, seconds) => notice.countDown(refusal, seconds, waits.signal));
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status !== 404) return explain(error, error instanceof Refusal ? undefined : () => sendRemoval(id, name, send), "This may or may not have been done. Trying again is safe.");
  }
  setCategory(id, undefined);
  show();
  say(`The category ${name} was deleted.`);
}

byId("open-category").addEventListener("click", () => openDialog());
list.addEventListener("click", ({ target }) => {
  const action = target.closest("button")?.dataset.category;
  const { id } = target.closest("li")?.dataset ?? {};
  if (action === "rename") openDialog(id);
  if (action === "delete") remove(id);
});
dialog.querySelector("[type=button]").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => sending?.abort());
byId("category-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!sending) submit();
});
