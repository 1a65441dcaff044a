// The view of the reservations: the open orders by the day on which their hold ends.

import { storeName } from "../shared/store.js";
import { here, link } from "./address.js";
import { showPicture } from "./cards.js";
import { categoryName } from "./categories.js";
import { findPet, listOpenOrders, listReservedPets } from "./operations.js";
import { showRows } from "./rows.js";
import { exactly, fromNow } from "./time.js";

const byId = (id) => document.getElementById(id);
const section = byId("reservations");
const groups = section.querySelectorAll("[data-before]"); // each holds the orders that end before that many days have passed
const title = byId("reservations-title");
const mostLookups = 20; // how many animals one load looks up singly

let orders = []; // the orders on the page, the one that ends first at the top
let more = false; // whether there are orders that the page does not show
const animals = new Map(); // the animals by number, as last seen

export const view = {
  section,

  /** Shows that the reservations are being loaded. */
  prepare() {
    document.title = `Reservations · ${storeName()}`;
    section.ariaBusy = "true";
    byId("no-reservations").hidden = true;
    animals.clear();
  },

  /** Whether an event may change what the view shows. */
  concerns: ({ type, data }) => /^(order|category)\./.test(type) || animals.has(data.petId ?? data.id),

  /** Loads the open orders and their animals, waits for the other requests, and shows the result. */
  async load(signal, others) {
    const [open] = await Promise.all([listOpenOrders(signal), others]);
    await learnAnimals(open.found, signal);
    orders = open.found.sort((a, b) => Date.parse(a.expiresAt) - Date.parse(b.expiresAt) || a.id - b.id);
    more = open.more;
    section.ariaBusy = null;
    show();
  },

  /** Shows nothing, because loading failed. */
  clear() {
    orders = [];
    section.ariaBusy = null;
    for (const { list } of rows()) list.replaceChildren();
    for (const group of groups) group.hidden = true;
    byId("no-reservations").hidden = true;
    summarize("");
  },

  /** Moves the focus after the view was opened: to the animal that was open before, or else to the title. */
  focus: (animal) => (section.querySelector(`[data-animal="${animal}"]`) ?? title).focus(),
};

// A page of the list has the names of up to 100 reserved animals. Animals that are not on the first pages are looked up
// singly, and only once while the view is open.
async function learnAnimals(open, signal) {
  if (open.length === 0) return;
  const missing = new Set(open.map(({ petId }) => petId));
  const enough = (found) => {
    for (const animal of found) {
      animals.set(animal.id, animal);
      missing.delete(animal.id);
    }
    return missing.size === 0;
  };
  await listReservedPets(Math.ceil(open.length / 100) + 1, enough, signal);
  const unknown = [...missing].filter((id) => !animals.has(id)).slice(0, mostLookups);
  for (const animal of await Promise.all(unknown.map((id) => findPet(id, signal, "profile")))) if (animal) animals.set(animal.id, animal);
}

const rows = () => [...groups].map((group) => ({ group, list: group.querySelector("ul") }));

function show() {
  const today = new Date();
  const midnight = (days) => new Date(today.getFullYear(), today.getMonth(), today.getDate() + days);
  let left = orders;
  for (const { group, list } of rows()) {
    const end = group.dataset.before ? midnight(Number(group.dataset.before)) : Infinity;
    const due = left.filter(({ expiresAt }) => Date.parse(expiresAt) < end);
    left = left.slice(due.length);
    group.hidden = due.length === 0;
    group.querySelector(".count").textContent = due.length;
    showRows(list, byId("hold-row"), due, fill);
  }
  byId("no-reservations").hidden = orders.length > 0;
  summarize(inWords(groups[0].querySelector("ul").children.length));
}

function inWords(today) {
  if (orders.length === 0) return "";
  const all = orders.length === 1 ? "1 animal is reserved" : `${orders.length.toLocaleString("en")} animals are reserved`;
  const due = `${today || "no"} ${today === 1 ? "reservation ends" : "reservations end"} today`;
  return more ? `There are more than ${orders.length.toLocaleString("en")} reservations. This page shows the newest; ${due}.` : `${all}; ${due}.`;
}

// A screen reader reads every change of this text, so the page writes it only if it differs.
function summarize(text) {
  const place = byId("reservations-summary");
  if (place.textContent !== text) place.textContent = text;
}

function fill(row, order) {
  const animal = animals.get(order.petId) ?? { id: order.petId };
  const name = row.querySelector(".name a");
  const shown = JSON.stringify([order, animal, categoryName(animal.categoryId), here()]);
  if (row.dataset.shown !== shown) {
    row.dataset.shown = shown;
    name.textContent = animal.name ?? `Animal ${animal.id}`;
    name.href = link({ ...here(), animal: animal.id });
    name.dataset.animal = animal.id;
    row.querySelector(".meta").textContent = [animal.name && categoryName(animal.categoryId), `No.\u00a0${animal.id}`].filter(Boolean).join(" · ");
    row.querySelector(".whom").textContent = order.reference ? `For ${order.reference}` : "Without a reference";
    row.querySelector("time").dateTime = order.expiresAt;
    row.querySelector("time").textContent = exactly(order.expiresAt);
    showPicture(row.querySelector(".portrait"), animal);
  }
  row.querySelector("b").textContent = `${Date.parse(order.expiresAt) <= Date.now() ? "Ended" : "Ends"} ${fromNow(order.expiresAt)}`;
}

// The words for the time that is left become wrong as time passes, and at midnight the groups do.
setInterval(() => section.checkVisibility() && !section.ariaBusy && show(), 20_000);
