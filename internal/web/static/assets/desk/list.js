// The view of the list, one page at a time.

import { trail } from "../shared/address.js";
import { storeName } from "../shared/store.js";
import { goBack, goFirst, goNext, here } from "./address.js";
import { showCards } from "./cards.js";
import { getInventory, listPets, pageSize } from "./operations.js";
import { statusName } from "./words.js";

const byId = (id) => document.getElementById(id);
const list = byId("animals");
const pager = byId("pager");
const hidden = new Set(); // animals that are being deleted

let page = { animals: [] }; // the page that the list shows
let counts; // the number of animals of each status
let next; // the cursor of the next page
let changes = 0; // the number of changes; a page loaded before the latest change is out of date
let paging = false; // whether a button of the pager opened the view

export const listView = {
  section: byId("listing"),

  /** Shows that the list is being loaded. */
  prepare() {
    const { status } = here();
    for (const link of document.querySelectorAll(".filter a")) {
      link.ariaCurrent = link.dataset.status === status ? "page" : null;
    }
    document.title = `${status ? statusName(status) : "All"} animals · ${storeName()}`;
    paging = pager.contains(document.activeElement);
    next = page.next = undefined;
    byId("empty").hidden = true;
    list.ariaBusy = "true";
  },

  /** Loads the page and the counts, waits for the other requests, and shows the result, or returns false if it is out of date. */
  async load(signal, others) {
    const before = changes;
    const fetched = await Promise.all([listPets(here(), signal), getInventory(signal), others]);
    const current = before === changes;
    if (current) [page, counts] = fetched;
    show();
    return current;
  },

  /** Whether an event may change what the view shows. */
  concerns: ({ type }) => /^(pet|profile|category)\./.test(type),

  /** Shows nothing, because loading failed. */
  clear() {
    page = { animals: [] };
    list.ariaBusy = null;
    list.replaceChildren();
    pager.hidden = true;
    summarize("");
  },

  /** Moves the focus after the view was opened: to the animal that was open before, or else to the first animal. */
  focus(animal) {
    if (animal) (list.querySelector(`[data-animal="${animal}"]`) ?? byId("title")).focus();
    else if (paging) list.querySelector("a")?.focus();
  },
};

/** Hides an animal while it is being deleted, or shows it again. */
export function hideAnimal(id, gone) {
  if (gone) hidden.add(id);
  else hidden.delete(id);
  changes++;
  show();
}

/** Shows a new animal if it belongs on this page. */
export function insertAnimal(animal) {
  const { status, cursor } = here();
  changes++;
  if (counts) counts = { ...counts, [animal.status]: counts[animal.status] + 1 };
  if (!cursor && (!status || status === animal.status)) page = { ...page, animals: [animal, ...page.animals].slice(0, pageSize) };
  show();
}

function show() {
  const animals = page.animals.filter(({ id }) => !hidden.has(id));
  list.ariaBusy = null;
  showCards(list, animals);
  next = page.next;
  showCounts();
  showPager(animals.length);
  showEmpty(animals.length === 0);
}

const total = (status) => (status ? counts[status] : counts.available + counts.pending + counts.sold);

function showCounts() {
  if (!counts) return;
  for (const link of document.querySelectorAll(".filter a")) {
    link.querySelector(".count").textContent = total(link.dataset.status).toLocaleString("en");
  }
}

// A screen reader reads every change of this text, so the page writes it only if it differs.
function summarize(text) {
  if (byId("summary").textContent !== text) byId("summary").textContent = text;
}

function showPager(shown) {
  const { status, cursor, page: number } = here();
  const all = counts ? Math.max(total(status), shown) : shown;
  const pages = Math.max(Math.ceil(all / pageSize), number + (next ? 1 : 0));
  const kind = `${status && `${statusName(status).toLowerCase()} `}${all === 1 ? "animal" : "animals"}`;
  summarize(shown ? `${shown} of ${all.toLocaleString("en")} ${kind}` : "");
  byId("place").textContent = `Page ${number.toLocaleString("en")} of ${pages.toLocaleString("en")}`;
  byId("next").disabled = !next;
  byId("previous").disabled = !cursor;
  byId("previous").textContent = cursor && !trail().length ? "First page" : "Previous";
  pager.hidden = !next && !cursor;
}

function showEmpty(empty) {
  byId("empty").hidden = !empty;
  if (!empty) return;
  const { status, cursor } = here();
  const [title, text] = byId("empty").querySelectorAll("h2, p");
  title.textContent = cursor ? "Nothing is left on this page" : status ? `No animal is ${statusName(status).toLowerCase()}` : "No animals yet";
  text.textContent = cursor || status ? "There may be other animals." : "The store is empty. The first animal you add appears here.";
  byId("empty-add").hidden = Boolean(cursor || status);
  byId("empty-all").hidden = !cursor && !status;
}

byId("next").addEventListener("click", () => next && goNext(next));
byId("previous").addEventListener("click", () => (trail().length ? goBack() : goFirst()));
