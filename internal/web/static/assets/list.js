// The list of animals, a page at a time.

import { goBack, goFirst, goNext, here, trail } from "./address.js";
import { showCards, word } from "./cards.js";
import { getInventory, listPets, pageSize } from "./operations.js";

const byId = (id) => document.getElementById(id);
const list = byId("animals");
const pager = byId("pager");
const hidden = new Set(); // animals that are being deleted

let page = { animals: [] }; // what is shown
let counts; // how many animals there are of each status
let next; // the cursor of the page after this one
let changes = 0; // what was fetched before the latest change says nothing
let paging = false; // the view is opened by a button of the pager

export const listView = {
  section: byId("listing"),

  /** Says what is coming. */
  prepare() {
    const { status } = here();
    for (const link of document.querySelectorAll(".filter a")) {
      link.ariaCurrent = link.dataset.status === status ? "page" : null;
    }
    document.title = `${status ? word(status) : "All"} animals · Petstore`;
    paging = pager.contains(document.activeElement);
    next = page.next = undefined;
    byId("empty").hidden = true;
    list.ariaBusy = "true";
  },

  /** Fetches the page and the counts and shows them, once what else is fetched is there. */
  async look(signal, others) {
    const before = changes;
    const fetched = await Promise.all([listPets(here(), signal), getInventory(signal), others]);
    if (before === changes) [page, counts] = fetched;
    show();
  },

  /** Shows nothing, because nothing could be fetched. */
  clear() {
    page = { animals: [] };
    list.ariaBusy = null;
    list.replaceChildren();
    pager.hidden = true;
    summarize("");
  },

  /** Where the keyboard goes on after the view was opened: the animal that was open, or the first one. */
  focus(animal) {
    if (animal) (list.querySelector(`[data-animal="${animal}"]`) ?? byId("title")).focus();
    else if (paging) list.querySelector("a")?.focus();
  },

  /** An animal of this page, or nothing. */
  first: () => page.animals[0]?.id,
};

/** Leaves an animal out of the list while it is being deleted, or puts it back. */
export function hideAnimal(id, gone) {
  if (gone) hidden.add(id);
  else hidden.delete(id);
  changes++;
  show();
}

/** Puts a new animal in its place, if that is on this page. */
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

// A screen reader says what is written here, so it is written only when it is something else.
function summarize(text) {
  if (byId("summary").textContent !== text) byId("summary").textContent = text;
}

function showPager(shown) {
  const { status, cursor, page: number } = here();
  const all = counts ? Math.max(total(status), shown) : shown;
  const pages = Math.max(Math.ceil(all / pageSize), number + (next ? 1 : 0));
  const kind = `${status && `${status} `}${all === 1 ? "animal" : "animals"}`;
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
  title.textContent = cursor ? "Nothing is left on this page" : status ? `No animal is ${status}` : "No animals yet";
  text.textContent = cursor || status ? "The others may still be here." : "The store is open and empty. The first animal that is added appears here.";
  byId("empty-add").hidden = Boolean(cursor || status);
  byId("empty-all").hidden = !cursor && !status;
}

byId("next").addEventListener("click", () => next && goNext(next));
byId("previous").addEventListener("click", () => (trail().length ? goBack() : goFirst()));
