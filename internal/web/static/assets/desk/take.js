// The dialog that takes what was found to paper or into a file: all of it, not only what is loaded. The page loads this
// script when it is first needed.

import { Refusal, Unreachable, retry } from "../shared/api.js";
import { Notice, explain, say, stripBidi } from "../shared/notice.js";
import { storeName } from "../shared/store.js";
import { toCSV } from "./csv.js";
import { readAnimals } from "./found.js";
import { whatIsFound } from "./list.js";
import { listPets } from "./operations.js";
import { printAnimals } from "./print.js";

const bounds = { list: 500, cards: 500, csv: 5000 }; // how many animals are taken at most
const hints = {
  list: "Prints one line for each animal, the newest first, up to 500.",
  cards: "Prints a card with photo, name, breed and age for each animal, up to 500.",
  csv: "Saves a file for a spreadsheet, up to 5,000 animals, without the notes for staff.",
};

const byId = (id) => document.getElementById(id);
const dialog = byId("take");
const notice = new Notice(byId("take-notice"));
const count = (animals) => `${animals.toLocaleString("en")} ${animals === 1 ? "animal" : "animals"}`;
const shape = () => byId("take-form").elements.shape.value;

let found; // what the list showed when the dialog was opened
let taking; // aborts the requests

export function openTake() {
  found = whatIsFound();
  const { title, query } = found;
  byId("take-title").textContent = stripBidi(query.q ? `${title} found by “${query.q}”` : title);
  reset();
  dialog.showModal();
}

function reset() {
  notice.clear();
  byId("take-progress").textContent = "";
  byId("take-hint").textContent = hints[shape()];
  byId("send-take").textContent = shape() === "csv" ? "Save the file" : "Print";
}

async function take() {
  taking = new AbortController();
  const { signal } = taking;
  notice.clear();
  try {
    const { animals, next } = await readAll(shape(), signal);
    dialog.close();
    await finish(shape(), animals, next && `These are the newest ${count(animals.length)}; the store has more.`);
  } catch (error) {
    if (!signal.aborted) report(error);
  } finally {
    taking = undefined;
  }
}

async function readAll(as, signal) {
  const { query, numbered } = found;
  let taken = 0;
  const read = async (page) => {
    byId("take-progress").textContent = taken ? `${count(taken)} so far…` : "Asking the store…";
    const result = await retry(() => listPets(page, signal), (refusal, seconds) => notice.countDown(refusal, seconds, signal));
    taken += result.animals.length;
    return result;
  };
  const { animals, next } = await readAnimals(query, bounds[as], signal, { read });
  return { animals: numbered ? [numbered, ...animals.filter(({ id }) => id !== numbered.id)] : animals, next };
}

function finish(as, animals, more) {
  if (as !== "csv") {
    const day = new Date().toLocaleDateString("en", { dateStyle: "long" });
    if (more) say(more);
    return printAnimals(as, animals, `${byId("take-title").textContent} · ${storeName()}`, `${more || `${count(animals.length)}.`} ${day}`);
  }
  download(toCSV(animals), `animals-${new Date().toLocaleDateString("sv")}.csv`);
  return say(more ? `The file was saved. ${more}` : `The file was saved, with ${count(animals.length)}.`);
}

function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function report(error) {
  byId("take-progress").textContent = "";
  if (error instanceof Unreachable) {
    notice.say("The store cannot be reached", "Nothing was printed or saved. Try again when you are back online.");
  } else if (!(error instanceof Refusal)) {
    throw error;
  } else if (error.status === 401) {
    dialog.close();
    explain(error);
  } else {
    notice.say("That did not work", error.message);
  }
}

byId("cancel-take").addEventListener("click", () => dialog.close());
byId("take-form").addEventListener("change", reset);
byId("take-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!taking) take();
});
dialog.addEventListener("close", () => taking?.abort());
