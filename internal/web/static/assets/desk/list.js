// The view of the list. The list grows at its end as the person scrolls, and changes in place as animals change.

import { go } from "../shared/address.js";
import { Unreachable, retry } from "../shared/api.js";
import { focusIsLost } from "../shared/dialogs.js";
import { explain, notice, stripBidi } from "../shared/notice.js";
import { storeName } from "../shared/store.js";
import { here, link } from "./address.js";
import { showCards } from "./cards.js";
import { categoryName } from "./categories.js";
import { extend, readAnimals, refresh } from "./found.js";
import { getInventory, listPets, pageSize } from "./operations.js";
import { keptPlace, returnTo, watchPlace } from "./place.js";
import { animalNumber, explainRefusal, showCategories, showSearch } from "./search.js";
import { statusName } from "./words.js";

const refreshed = 500; // how many animals, the newest, are kept up to date; this takes five requests

const byId = (id) => document.getElementById(id);
const list = byId("animals");
const moreButton = byId("more");
const hidden = new Set(); // animals that are being deleted

let found = { animals: [] }; // the animals of the latest query, as far as they are loaded
let loadedKey; // the query that found belongs to
let numbered; // the animal whose number is typed
let refused = false; // whether the server refused to search for what is typed
let counts; // the number of animals of each status
let changes = 0; // the number of changes; what was read before the latest change is out of date
let place; // where the person was in this list before
let placed = false; // whether the list was scrolled there
let more; // the promise of more animals
let growing = new AbortController(); // aborts it
let stalled = false; // whether more animals could not be loaded

const queryHere = () => (({ status, category, q }) => ({ status, category, q }))(here());

const keyHere = () => JSON.stringify(queryHere());
const isLoaded = () => loadedKey === keyHere();

// The name of what the list shows.
function heading() {
  const { status, category } = here();
  if (!category) return `${status ? statusName(status) : "All"} animals`;
  return status ? `${categoryName(category)}, ${statusName(status).toLowerCase()}` : categoryName(category);
}

export const listView = {
  section: byId("listing"),

  /** Shows that the list is being loaded. A list that was shown before is there at once. */
  prepare() {
    const { q } = here();
    showSearch();
    byId("title").textContent = heading();
    document.title = `${q && `“${stripBidi(q)}” · `}${heading()} · ${storeName()}`;
    [place, placed] = [keptPlace(), false];
    if (isLoaded()) return arrive();
    growing.abort();
    byId("empty").hidden = moreButton.hidden = true;
    list.ariaBusy = "true";
  },

  /**
   * Loads the list, waits for the other requests, and shows the result. A list that is there already is refreshed: one request
   * for each 100 animals finds what was added, changed or deleted among the newest 500. What is below them stays.
   * Returns false if the result is out of date.
   */
  async load(signal, others) {
    const [key, query, before] = [keyHere(), queryHere(), changes];
    const linked = !isLoaded() && place && !place.loaded && Number(place.animal); // a link tells no length of the list
    const wanted = linked ? refreshed : Math.max(pageSize, isLoaded() ? found.animals.length : place?.loaded ?? 0);
    const isPlain = !query.category && !query.q; // only then, the inventory counts what was found
    const [fresh, animal, inventory] = await Promise.all([
      readAnimals(query, Math.min(wanted, refreshed), signal, { until: linked || 0 }).catch(noneIfRefused),
      findNumbered(query, signal),
      isPlain ? getInventory(signal) : undefined,
      others,
    ]);
    if (key !== keyHere()) return; // another list is being opened
    const current = before === changes;
    if (current || !isLoaded()) {
      found = isLoaded() ? refresh(found, fresh) : fresh;
      [loadedKey, numbered, refused, counts] = [key, animal, Boolean(fresh.refused), inventory];
    }
    showCategories();
    byId("title").textContent = heading();
    show();
    arrive();
    return current;
  },

  /** Whether an event may change what the view shows. */
  concerns: ({ type }) => /^(pet|profile|category)\./.test(type),

  /** Shows nothing, because loading failed. */
  clear() {
    [found, loadedKey, numbered] = [{ animals: [] }, undefined, undefined];
    growing.abort();
    list.ariaBusy = null;
    list.replaceChildren();
    moreButton.hidden = true;
    summarize("");
  },

  /** Moves the focus to the animal that was open before, if there was one. */
  focus(animal) {
    const card = animal && list.querySelector(`[data-animal="${animal}"]`);
    if (card) card.focus({ preventScroll: placed });
    else if (animal) byId("title").focus({ preventScroll: placed });
  },
};

// Scrolls to the place in which the person left this list, once.
function arrive() {
  if (!place || placed) return;
  placed = true;
  returnTo(list, place);
}

function noneIfRefused(error) {
  if (error.status !== 400 || !here().q) throw error;
  return { animals: [], refused: true };
}

async function findNumbered({ q, ...filters }, signal) {
  const id = animalNumber(q);
  return id && (await listPets({ ...filters, id }, signal)).animals[0];
}

/** What the list shows, also where it is not loaded: its name, its query, and the animal whose number is typed. */
export const whatIsFound = () => ({ title: heading(), query: queryHere(), numbered });

/** Hides an animal while it is being deleted, or shows it again. */
export function hideAnimal(id, gone) {
  if (gone) hidden.add(id);
  else hidden.delete(id);
  changes++;
  if (isLoaded()) show();
}

/** Shows a new animal if it belongs in this list. Only the server knows that of a search. Returns whether the animal is shown. */
export function insertAnimal(animal) {
  const { status, category, q } = here();
  const belongs = (!status || status === animal.status) && (!category || category === String(animal.categoryId));
  const isNew = !found.animals.some(({ id }) => id === animal.id); // a refresh may have been faster
  changes++;
  if (counts && isNew) counts = { ...counts, [animal.status]: counts[animal.status] + 1 };
  if (belongs && isNew && !q) found = { ...found, animals: [animal, ...found.animals] };
  if (isLoaded()) show();
  return belongs;
}

function show() {
  const animals = [...(numbered ? [numbered] : []), ...found.animals.filter(({ id }) => id !== numbered?.id)];
  const visible = animals.filter(({ id }) => !hidden.has(id));
  list.ariaBusy = null;
  showCards(list, visible);
  showCounts();
  showMore();
  showEmpty(visible.length === 0);
  summarize(summary(visible.length));
}

const total = (status) => (status ? counts[status] : counts.available + counts.pending + counts.sold);

function showCounts() {
  for (const chip of document.querySelectorAll(".filter a")) {
    chip.querySelector(".count").textContent = counts ? total(chip.dataset.status).toLocaleString("en") : "";
  }
}

function summary(shown) {
  const { status, q } = here();
  const animals = (count) => `${count.toLocaleString("en")} ${count === 1 ? "animal" : "animals"}`;
  if (!shown) return q && !refused ? "Nothing was found" : "";
  if (counts) return `${shown.toLocaleString("en")} of ${animals(Math.max(total(status), shown))}`;
  return `${animals(shown)}${found.next ? " so far" : ""}${q && ` for “${stripBidi(q)}”`}`;
}

// A screen reader reads every change of this text, so the page writes it only if it differs.
function summarize(text) {
  if (byId("summary").textContent !== text) byId("summary").textContent = text;
}

function showEmpty(empty) {
  byId("empty").hidden = !empty;
  byId("open-take").hidden = empty;
  if (!empty) return;
  const { status, category, q } = here();
  const [title, text] = byId("empty").querySelectorAll("h2, p");
  [title.textContent, text.textContent] = refused ? explainRefusal(q) : whyEmpty(status, category, q);
  const isFiltered = Boolean(status || category || q);
  byId("empty-add").hidden = isFiltered;
  byId("empty-all").hidden = !isFiltered || refused;
  byId("empty-all").textContent = q && (status || category) ? "Search in all animals" : "Show all animals";
}

function whyEmpty(status, category, q) {
  if (q) return [`Nothing was found for “${stripBidi(q)}”`, "A search looks at the beginnings of words in names and breeds, and at numbers."];
  if (status && !category) return [`No animal is ${statusName(status).toLowerCase()}`, "There may be other animals."];
  if (status || category) return ["No such animals", "There may be other animals."];
  return ["No animals yet", "The store is empty. The first animal you add appears here."];
}

// The browser may report several times at once where the button was. The last report counts.
const nearEnd = new IntersectionObserver((reports) => reports.at(-1).isIntersecting && !stalled && loadMore(), { rootMargin: "800px 0px" });

// Observing the button anew makes the browser report where it is, even if that has not changed.
function showMore() {
  moreButton.hidden = !found.next;
  moreButton.textContent = more ? "Loading more animals…" : "Show more animals";
  nearEnd.disconnect();
  if (found.next) nearEnd.observe(moreButton);
}

/** Loads the animals that follow. While they are being loaded, every caller gets the same promise. */
function loadMore() {
  if (!found.next || !isLoaded()) return undefined;
  more ??= grow().finally(() => {
    more = undefined;
    if (isLoaded()) show();
  });
  return more;
}

async function grow() {
  const [key, query, cursor] = [loadedKey, queryHere(), found.next];
  growing = new AbortController();
  const { signal } = growing;
  moreButton.textContent = "Loading more animals…";
  try {
    const page = await retry(() => listPets({ ...query, cursor }, signal), (refusal, seconds) => notice.countDown(refusal, seconds, signal));
    if (loadedKey === key) found = extend(found, cursor, page);
    stalled = false;
  } catch (error) {
    if (signal.aborted) return;
    stalled = true;
    explain(error, () => {
      notice.clear();
      loadMore();
    });
  }
}

moreButton.addEventListener("click", async () => {
  const first = list.children.length;
  await loadMore();
  if (document.activeElement === moreButton || focusIsLost()) list.children[first]?.querySelector("a").focus();
});

byId("empty-all").addEventListener("click", () => {
  const { status, category, q } = here();
  go(link(status || category ? { q } : {}));
});

// Most visits print nothing, so the page loads the dialog when it is first needed.
const take = () => import("./take.js").then(({ openTake }) => openTake(), () => explain(new Unreachable(), take));

byId("open-take").addEventListener("click", take);

// The browser's own dialog would print only what is loaded.
document.addEventListener("keydown", (event) => {
  if (event.key !== "p" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  if (!byId("open-take").checkVisibility() || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  take();
});

watchPlace(list, () => (isLoaded() ? found.animals.length : 0));
