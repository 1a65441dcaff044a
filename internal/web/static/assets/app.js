// Puts the page together: shows what the address asks for, and keeps it up to date.

import { forgetAccess, learnAccess } from "./access.js";
import { go, goFirst, here, onMove, openAnimal } from "./address.js";
import { abandonChanges, animalView, showEdited } from "./animal.js";
import { Unreachable, apiKey, patiently } from "./api.js";
import { loadCategories } from "./categories.js";
import { closeDialogs, isLost } from "./dialogs.js";
import { openForm, watchForm } from "./form.js";
import "./gauge.js";
import { insertAnimal, listView } from "./list.js";
import { explain, notice, onRefusedKey, say } from "./notice.js";
import { draw } from "./portrait.js";
import { askForKey, isAsking, unlock, watchKey } from "./signin.js";
import { unwatch, watch } from "./watch.js";

const byId = (id) => document.getElementById(id);

let opening = new AbortController(); // aborts the view that is being opened
let view; // the view that is shown
let wasOpen; // the animal that was open before
let retry; // fetches again what could not be reached

/** Shows what the address asks for. */
async function open() {
  stop();
  if (!apiKey.get()) return signOut();
  const { animal } = here();
  const from = view;
  const { signal } = opening;
  const asked = isAsking();
  if (!asked) unlock();
  turnTo(animal ? animalView : listView);
  view.prepare();
  const focused = document.activeElement;
  notice.clear();
  try {
    await patiently(() => look(signal), (refusal, seconds) => notice.count(refusal, seconds, signal));
    if (signal.aborted) return;
    unlock();
    if (asked) byId(animal ? "animal-name" : "title").focus();
    else if (from && (document.activeElement === focused || isLost())) view.focus(from === animalView && wasOpen);
    wasOpen = animal;
    await learnAccess(view.first());
    if (!signal.aborted) watch(refresh);
  } catch (error) {
    if (signal.aborted) return;
    if (error.status !== 401) unlock();
    view.clear();
    retry = open;
    explain(error, error.status === 400 ? goFirst : open); // an address can be wrong: the first page is not
  }
}

function stop() {
  opening.abort();
  opening = new AbortController();
  retry = undefined;
  unwatch();
}

function turnTo(next) {
  view = next;
  for (const { section } of [listView, animalView]) section.hidden = section !== view.section;
}

let looks = 0;
let missed = 0; // how many looks in a row were refused
let lost; // the message that a look has failed

// Names of categories change rarely: they are fetched with every tenth look.
async function look(signal) {
  await view.look(signal, looks % 10 === 0 && loadCategories(signal));
  looks++;
}

async function refresh(signal) {
  try {
    await look(signal);
    await learnAccess(view.first());
    if (lost?.isConnected) notice.clear();
    missed = 0;
  } catch (error) {
    if (signal.aborted || error.status === 429 || (error.retryAfter && !missed++)) return error.retryAfter;
    // What a message says is about something that somebody did.
    if (notice.isEmpty() || error.status === 401) {
      lost = explain(error.status >= 500 ? new Unreachable() : error, open, "What you see may have changed since. This page goes on trying.");
    }
    return error.retryAfter;
  }
}

function signOut(reason) {
  stop();
  closeDialogs();
  abandonChanges();
  looks = 0;
  notice.clear();
  animalView.clear();
  listView.clear();
  turnTo(listView);
  byId("gauge").hidden = true;
  askForKey(reason);
}

// A key that was refused gives way to the one before it, if there was one.
function refuse(reason) {
  if (!apiKey.get()) return signOut(reason);
  abandonChanges();
  forgetAccess();
  open();
  notice.say("That key was refused", `${reason} This page goes on with another key.`);
}

watchKey(open, () => signOut());
onRefusedKey(refuse);
onMove(() => {
  closeDialogs();
  open();
});
window.addEventListener("online", () => retry?.());

watchForm(
  (animal) => {
    insertAnimal(animal);
    const { status } = here();
    say(!status || status === animal.status ? `${animal.name} was added.` : `${animal.name} was added as ${animal.status}, which this filter hides.`);
  },
  (animal) => {
    showEdited(animal);
    say(`${animal.name} was saved.`);
  },
);

for (const id of ["open-add", "empty-add"]) byId(id).addEventListener("click", () => openForm());
byId("empty-all").addEventListener("click", () => go("./"));

byId("find").addEventListener("submit", (event) => {
  event.preventDefault();
  const number = byId("number").value.trim().replace(/^(#|no\.?)\s*/i, "");
  if (/^[1-9]\d{0,15}$/.test(number)) return openAnimal(number);
  say("Type the number of an animal, such as 7.");
  byId("number").focus();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest(".filter a, .brand, .card a, .skip");
  if (link && event.detail > 1) return event.preventDefault(); // of a double click, on this or on what was here before
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.dataset.animal) openAnimal(link.dataset.animal);
  else if (link.matches(".skip")) byId(view === animalView ? "animal-name" : "animals").focus();
  else go(link.href);
});

for (const [i, svg] of document.querySelectorAll(".window svg").entries()) draw(svg, { id: i + 2, categoryId: i + 1 });

open();
