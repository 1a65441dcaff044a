// The desk's main script. It shows the view that the address names, and keeps the view up to date.

import { forgetAccess, learnAccess } from "../shared/access.js";
import { go, onMove } from "../shared/address.js";
import { Unreachable, apiKey, retry } from "../shared/api.js";
import { closeDialogs, focusIsLost } from "../shared/dialogs.js";
import { explain, notice, onRefusedKey, say, unsay } from "../shared/notice.js";
import { askForKey, isAsking, unlock, watchKey } from "../shared/signin.js";
import { storeName } from "../shared/store.js";
import { borrowKey } from "../shared/tabs.js";
import { goFirst, here, openAnimal } from "./address.js";
import { loadCategories } from "./categories.js";
import { follow, onEvent, unfollow } from "./events.js";
import { openForm, watchForm } from "./form.js";
import "./gauge.js";
import { insertAnimal, listView } from "./list.js";
import { draw } from "./portrait.js";
import { expect, look, unwatch, watch } from "./watch.js";

const byId = (id) => document.getElementById(id);

// The scripts of the other views are loaded when the person opens them.
const scripts = {
  animal: () => import("./animal.js"),
  reservations: () => import("./reservations.js"),
  categories: () => import("./categories-view.js"),
};
const sections = { list: byId("listing"), animal: byId("animal"), reservations: byId("reservations"), categories: byId("category-list") };
const loaded = { list: { view: listView } }; // the scripts that are loaded

let opening = new AbortController(); // aborts the view that is being opened
let shown = ""; // the name of the view that is shown
let wasOpen; // the animal that the previous view showed
let reopen; // opens the view again after a failure

/** Opens the view that the address names. */
async function open() {
  stop();
  if (!apiKey.get()) return signOut();
  const { animal, view: named } = here();
  const from = shown;
  const { signal } = opening;
  const asked = isAsking();
  if (!asked) unlock();
  const focused = document.activeElement;
  notice.clear();
  const name = animal ? "animal" : named || "list";
  try {
    const { view } = loaded[name] ?? (await loadScript(name));
    if (signal.aborted) return;
    switchTo(name);
    view.prepare();
    await follow(); // first, so that the page hears of every change after the load
    if (signal.aborted) return;
    expect(view.concerns);
    await retry(() => load(signal), (refusal, seconds) => notice.countDown(refusal, seconds, signal));
    if (signal.aborted) return;
    unlock();
    if (asked) heading().focus();
    else if (from && (document.activeElement === focused || focusIsLost())) view.focus(from === "animal" && wasOpen);
    wasOpen = animal;
    const known = await learnAccess();
    if (signal.aborted) return;
    watch(refresh);
    if (!known) look();
  } catch (error) {
    if (signal.aborted) return;
    if (error.status !== 401) unlock();
    loaded[name]?.view.clear();
    reopen = open;
    lostMessage = explain(error, error.status === 400 ? goFirst : open); // 400 means that the address is wrong
    if (error instanceof Unreachable && shown === name) keepTrying(); // another message may take the place of this one and its button
  }
}

function keepTrying() {
  watch(refresh);
  look();
}

function stop() {
  opening.abort();
  opening = new AbortController();
  reopen = undefined;
  unwatch();
}

async function loadScript(name) {
  loaded[name] = await scripts[name]().catch(() => Promise.reject(new Unreachable()));
  return loaded[name];
}

function switchTo(name) {
  shown = name;
  history.scrollRestoration = name === "list" ? "manual" : "auto"; // the list returns to its place itself
  for (const [other, section] of Object.entries(sections)) section.hidden = other !== name;
  for (const link of document.querySelectorAll(".views a")) link.ariaCurrent = (link.dataset.view || "list") === name ? "page" : null;
}

const heading = () => sections[shown].querySelector("h1") ?? byId("title");

let loads = 0; // how many loads have been made since the names of the categories were fetched
let missed = 0; // how many refreshes in a row were refused
let lostMessage; // the message about a failed refresh

// Names of categories change rarely. The page fetches them after an event about a category, and with every tenth load in
// case it misses events.
async function load(signal) {
  const names = loads % 10 === 0;
  loads++;
  try {
    if ((await loaded[shown].view.load(signal, names && loadCategories(signal))) === false) look();
  } catch (error) {
    if (names) loads = 0;
    throw error;
  }
}

onEvent(({ type }) => {
  if (type.startsWith("category.")) loads = 0;
});

async function refresh(signal) {
  try {
    await load(signal);
    if (!(await learnAccess())) look();
    if (lostMessage?.isConnected) notice.clear();
    missed = 0;
  } catch (error) {
    const wait = error.retryAfter || 0;
    if (signal.aborted || error.status === 429 || (error.retryAfter && !missed++)) return wait;
    // A message about the person's own action stays.
    if (notice.isEmpty() || error.status === 401) {
      lostMessage = explain(error.status >= 500 ? new Unreachable() : error, open, "What you see may have changed since. This page keeps trying.");
    }
    return wait;
  }
}

function signOut(reason) {
  stop();
  unfollow();
  closeDialogs();
  loaded.animal?.abandonChanges();
  loads = 0;
  notice.clear();
  unsay();
  for (const { view } of Object.values(loaded)) view.clear();
  switchTo("list");
  document.title = storeName();
  byId("gauge").hidden = true;
  askForKey(reason);
}

// If the server refuses a key, the desk returns to the previous key, if there is one.
function keyRefused(reason) {
  if (!apiKey.get()) return signOut(reason);
  loaded.animal?.abandonChanges();
  forgetAccess();
  open();
  notice.say("That key was refused", `${reason} This page continues with another key.`);
}

watchKey(open, () => signOut());
onRefusedKey(keyRefused);
onMove(() => {
  closeDialogs();
  open();
});
window.addEventListener("online", () => reopen?.());

watchForm(
  (animal, profile) => {
    const belongs = insertAnimal({ ...animal, profile });
    notice.clear(); // a message about an earlier refusal
    say(`${animal.name} was added${belongs ? "" : ", but this list does not show it"}.`);
  },
  (animal, profile) => {
    loaded.animal?.showEdited(animal, profile); // a form that has just added the animal edits it without its view
    notice.clear(); // a message about an earlier refusal
    say(`${animal.name} was saved.`);
  },
);

for (const id of ["open-add", "empty-add"]) byId(id).addEventListener("click", () => openForm());

document.addEventListener("click", (event) => {
  const link = event.target.closest(".filter a, .views a, .rows a, .brand, .card a, .skip");
  if (link && event.detail > 1) return event.preventDefault(); // the second click of a double click
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.dataset.animal) openAnimal(link.dataset.animal);
  else if (link.matches(".skip")) (shown === "list" ? byId("animals") : heading()).focus();
  else go(link.href);
});

for (const [i, species] of ["dog", "cat", "rabbit", "bird"].entries()) draw(document.querySelectorAll(".window svg")[i], i + 2, species);

borrowKey().then(open);
