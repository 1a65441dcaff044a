// What happened to an animal: its orders and photos, and the events that are kept.

import { apiKey } from "../shared/api.js";
import { stripBidi } from "../shared/notice.js";
import { categoryName } from "./categories.js";
import { eventsOf } from "./operations.js";

const byId = (id) => document.getElementById(id);
const few = 6; // how many entries the page shows at first
const hour = 3_600_000;

let kept = {}; // the events read so far, for one animal and one key
let all = false; // whether the page shows all entries

/** The events of an animal. Only those that are new since the last time are read again. */
export async function loadEvents(petId, signal) {
  const key = apiKey.get();
  if (kept.petId !== petId) all = false;
  let { events, after } = kept.petId === petId && kept.key === key ? kept : { events: [] };
  for (let page = 0; page < 10; page++) {
    const next = await eventsOf(petId, after, signal).catch((error) => (after && error.code === "events_gone" ? undefined : Promise.reject(error)));
    events = next ? [...events, ...next.events] : [];
    after = next?.after;
    if (next?.end) break;
  }
  kept = { petId, key, events, after };
  return events;
}

/** The entries of the timeline, newest first: {at, kind, text}. */
export function history(events, orders, photos) {
  const entries = [];
  const add = (at, kind, text, rank = 0) => entries.push({ at: Date.parse(at), kind, text: stripBidi(text), rank });
  const listed = new Set(orders.map(({ id }) => id));
  const told = new Map(); // orders that the list does not hold any more, as their last event shows them
  const ranks = {}; // the numbers of the events that began and ended each order, for what happened in the same millisecond
  let ofOrder; // the number of the event that tells what an order did to its animal
  for (const { type, sequence, timestamp, data, previous = {} } of events) {
    if (type.startsWith("order.")) {
      if (!listed.has(data.id)) told.set(data.id, data);
      ranks[`${data.id} ${type}`] = sequence;
      ofOrder = sequence + 1;
    }
    if (type === "pet.created") add(timestamp, "added", `Added as ${data.name}`, sequence);
    else if (type === "order.updated") addCorrection((kind, text) => add(timestamp, kind, text, sequence), data, previous);
    else if (type === "pet.updated") addChange((kind, text) => add(timestamp, kind, text, sequence), data, previous, sequence === ofOrder);
  }
  for (const order of [...told.values(), ...orders.toReversed()]) addOrder(add, order, (type) => ranks[`${order.id} order.${type}`]);
  for (const { createdAt } of photos) add(createdAt, "photo", "A photo was added");
  return joinPhotos(entries.sort((a, b) => b.at - a.at || b.rank - a.rank));
}

const ends = { completed: ["sold", "Adopted", "Adopted by "], cancelled: ["ended", "Reservation cancelled", "Reservation cancelled: "], expired: ["ended", "Reservation ran out", "Reservation ran out: "] };

function addOrder(add, { status, reference, createdAt, closedAt }, rank) {
  add(createdAt, "pending", reference ? `Reserved for ${reference}` : "Reserved", rank("placed"));
  if (!closedAt) return;
  const [kind, plain, named] = ends[status];
  add(closedAt, kind, reference ? named + reference : plain, rank(status));
}

function addCorrection(add, order, previous) {
  if (previous.expiresAt) {
    const longer = Date.parse(order.expiresAt) > Date.parse(previous.expiresAt);
    add("ended", `Reservation ${longer ? "prolonged" : "shortened"} until ${exactly(order.expiresAt)}`);
  }
  if (previous.reference) add("ended", "Reference of the reservation corrected");
}

const byHand = { "sold available": "Brought back", "pending available": "Available again", pending: "Marked as reserved", sold: "Adopted" };

function addChange(add, { name, categoryId, status }, previous, ofOrder) {
  if (previous.name) add("edited", `Renamed from ${previous.name} to ${name}`);
  if (previous.categoryId) add("edited", `Moved from ${categoryName(previous.categoryId)} to ${categoryName(categoryId)}`);
  if (previous.status && !ofOrder) add(status, byHand[`${previous.status} ${status}`] ?? byHand[status]);
}

// Photos that were added within an hour are one entry.
function joinPhotos(entries) {
  const joined = [];
  for (const entry of entries) {
    const last = joined.at(-1);
    if (entry.kind === "photo" && last?.kind === "photo" && last.at - entry.at < hour) {
      last.count = (last.count ?? 1) + 1;
      last.text = `${last.count} photos were added`;
    } else joined.push(entry);
  }
  return joined;
}

const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const exactly = (time) => moment.format(new Date(time));

let shown = []; // the entries

/** Shows what happened to an animal. */
export function showTimeline(events, orders, photos) {
  const next = history(events, orders, photos);
  byId("timeline-start").hidden = events[0]?.type === "pet.created";
  if (JSON.stringify(next) === JSON.stringify(shown)) return; // the marked text stays marked
  shown = next;
  render();
}

function render() {
  byId("timeline").replaceChildren(...shown.slice(0, all ? undefined : few).map(row));
  byId("timeline-all").hidden = all || shown.length <= few;
  byId("timeline-all").textContent = `Show all ${shown.length}`;
}

function row({ at, kind, text }) {
  const item = byId("timeline-row").content.firstElementChild.cloneNode(true);
  item.dataset.kind = kind;
  item.querySelector("p").textContent = text;
  item.querySelector("time").dateTime = new Date(at).toISOString();
  item.querySelector("time").textContent = exactly(at);
  return item;
}

byId("timeline-all").addEventListener("click", () => {
  all = true;
  render();
  byId("timeline-title").focus();
});
