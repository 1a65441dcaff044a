// The view of one animal.

import { Refusal, retry } from "../shared/api.js";
import { askToConfirm, focusIsLost } from "../shared/dialogs.js";
import { explain, notice, say, stripBidi } from "../shared/notice.js";
import { storeName } from "../shared/store.js";
import { actionsFor, reservation } from "./actions.js";
import { closeAnimal, here } from "./address.js";
import { showStatus } from "./cards.js";
import { categoryName } from "./categories.js";
import { openForm } from "./form.js";
import { hideAnimal } from "./list.js";
import { noteLoaded } from "./meanwhile.js";
import { findPet, ordersOf, petRemover } from "./operations.js";
import { showPhotos, watchPhotos } from "./photos.js";
import { draw } from "./portrait.js";
import { showProfile } from "./profile.js";
import { askOrderChange, askReservation, forgetReservation, orderChange } from "./reserve.js";
import { exactly, fromNow } from "./time.js";
import { loadEvents, showTimeline } from "./timeline.js";
import { sayWithUndo } from "./undo.js";
import { dropUploads } from "./upload.js";
import { statusName } from "./words.js";

const byId = (id) => document.getElementById(id);
const section = byId("animal");
const buttons = section.querySelectorAll("[data-action]");

let shown = {}; // the animal on the page and its open order
let details = noDetails(); // its profile, its orders and its events
const changes = {}; // for each animal, the changes begun plus the changes ended; odd while a change runs
let waits = new AbortController(); // aborts the changes that wait to be sent again

function noDetails() {
  return { profile: { photos: [] }, orders: [], events: [] };
}

export const view = {
  section,

  /** Shows that the animal is being loaded. */
  prepare() {
    const { animal } = here();
    if (String(shown.animal?.id) !== animal) {
      shown = {};
      details = noDetails();
    }
    document.title = `Animal ${animal} · ${storeName()}`;
    section.ariaBusy = "true";
    show(shown);
  },

  /** Loads the animal and its order, waits for the other requests, and shows the result, or returns false if it is out of date. */
  async load(signal, others) {
    const id = here().animal;
    const known = changes[id];
    const [found, orders, events] = await Promise.all([findPet(id, signal, "profile"), ordersOf(id, signal), loadEvents(id, signal), others]);
    section.ariaBusy = null;
    if (changes[id] % 2 || changes[id] !== known || id !== here().animal) return false; // a change came after the load
    const before = shown.animal;
    const { profile = noDetails().profile, ...animal } = found ?? {};
    noteLoaded(before, found && animal);
    details = { profile, orders, events };
    show(found ? { animal, order: orders.find(({ status }) => status === "open") } : { missing: true });
    if (before && !found) say(`Somebody has deleted ${before.name}.`);
    if (before && found && before.status !== animal.status) say(`${animal.name} is now ${statusName(animal.status).toLowerCase()}.`);
  },

  /** Whether an event may change what the view shows. */
  concerns({ type, data }) {
    const id = type.startsWith("pet.") ? data.id : data.petId;
    return type.startsWith("category.") || String(id) === here().animal;
  },

  /** Shows nothing, because loading failed. */
  clear() {
    section.ariaBusy = null;
    details = noDetails();
    show({});
    for (const id of ["animal-meta", "order-reference", "order-end", "order-number"]) byId(id).textContent = "";
  },

  focus: () => byId("animal-name").focus(),
};

function show(next) {
  const focused = document.activeElement;
  shown = next;
  const { animal, order, missing } = shown;
  section.classList.toggle("blank", !animal);
  byId("animal-name").textContent = animal?.name ?? (missing ? `There is no animal ${here().animal}` : "");
  byId("missing").hidden = !missing;
  showOrder(order);
  if (animal || missing) document.title = `${stripBidi(byId("animal-name").textContent)} · ${storeName()}`;
  if (animal) describe(animal, order);
  showProfile(details.profile);
  showTimeline(details.events, details.orders, details.profile.photos);
  showPhotos(animal, details.profile.photos);
  if (section.contains(focused) && !focused.checkVisibility()) view.focus();
}

function describe(animal, order) {
  byId("animal-meta").textContent = `${categoryName(animal.categoryId)} · No.\u00a0${animal.id}`;
  showStatus(byId("animal-status"), animal.status);
  draw(section.querySelector(".portrait"), animal.id, categoryName(animal.categoryId));
  showChoices(actionsFor(animal, order));
}

function showChoices(possible) {
  for (const button of buttons) {
    const choice = button.dataset.action === "edit" ? { label: "Edit" } : possible[button.dataset.action];
    button.hidden = !choice;
    if (choice) button.textContent = choice.label;
  }
}

function showOrder(order) {
  byId("order").hidden = !order;
  if (!order) return;
  byId("order-reference").textContent = order.reference ? `For ${order.reference}` : "Without a reference";
  byId("order-end").textContent = order.expiresAt
    ? `The hold ends ${exactly(order.expiresAt)}, ${fromNow(order.expiresAt)}.`
    : "The order is being placed.";
  byId("change-order").hidden = !order.id;
  byId("order-number").textContent = order.id ? `Order ${order.id}, placed ${exactly(order.createdAt)}` : "";
}

const countChange = (id, ends = 1) => (changes[id] = (changes[id] ?? 0) + ends);

// Shows a change immediately and sends it. If the server refuses the change, the page shows the state before the change and
// the server's message. "Try again" sends the same change, even if the page shows another animal by then. The promise is
// true if the server made the change.
async function change(begin, { animal, order } = shown, begun = begin(animal, order)) {
  const before = shown;
  const { after, said, send, undo } = begun;
  const isShown = () => here().animal === String(animal.id); // the animal is still open
  countChange(animal.id);
  notice.clear();
  if (isShown()) show(after);
  try {
    const done = await retry(() => send(), waiting);
    if (isShown()) show({ order: undefined, ...done });
    if (undo) sayWithUndo(said, () => undoChange(undo, done.animal));
    else say(said);
    return true;
  } catch (error) {
    if (isShown()) show(before);
    const refused = error instanceof Refusal;
    if (error.name !== "AbortError") explain(error, refused || !isShown() ? undefined : () => change(begin, { animal, order }, begun), unsure);
    if (refused) reload();
    return false;
  } finally {
    countChange(animal.id);
  }
}

function undoChange(undo, animal) {
  queues[animal.id] = Promise.resolve(queues[animal.id]).then(() => change(undo, { animal })).catch(reportError);
  if (focusIsLost()) (here().animal ? byId("animal-name") : byId("title")).focus();
}

const unsure = "This may or may not have been done. Trying again is safe: it is done once.";

// After a refusal, the animal on the page may be out of date.
function reload() {
  setTimeout(() => here().animal && view.load().catch(() => {}));
}

async function remove() {
  const { animal } = shown;
  if (!(await askToConfirm(`Delete ${animal.name}?`, "This cannot be undone, and its number is never given to another animal.", "Delete"))) return;
  closeAnimal();
  await sendRemoval(animal, petRemover(animal.id));
}

async function sendRemoval(animal, send) {
  notice.clear();
  hideAnimal(animal.id, true);
  try {
    await retry((attempt) => send().catch((error) => (attempt && error.status === 404 ? undefined : Promise.reject(error))), waiting);
    say(`${animal.name} was deleted.`);
  } catch (error) {
    hideAnimal(animal.id, false);
    if (error.name !== "AbortError") explain(error, error instanceof Refusal ? undefined : () => sendRemoval(animal, send), unsure);
  }
}

const waiting = (refusal, seconds) => notice.countDown(refusal, seconds, waits.signal);

/** Drops the waiting changes and the typed text, because another person may sign in next. */
export function abandonChanges() {
  forgetReservation();
  dropUploads();
  waits.abort();
  waits = new AbortController();
}

async function reserve() {
  const { animal } = shown;
  const fields = await askReservation(animal);
  if (fields && shown.animal?.id === animal.id && (await change(reservation(fields)))) forgetReservation();
}

async function changeOrder() {
  const { animal, order } = shown;
  const fields = order?.id && (await askOrderChange(animal, order));
  if (fields && here().animal === String(animal.id) && (await change(orderChange(fields), { animal, order }))) forgetReservation();
}

// A button that is clicked during a change acts after the change, if its animal is still open and the button still means
// the same: "Bring back" is "Cancel the reservation" again if the adoption before it failed.
const queues = {};
function enqueue(action, label) {
  const id = shown.animal?.id;
  queues[id] = Promise.resolve(queues[id]).then(() => here().animal === String(id) && perform(action, label)).catch(reportError);
}

async function perform(action, label) {
  const { animal, order } = shown;
  const choice = animal && actionsFor(animal, order)[action];
  if (choice?.label !== label) return;
  if (action === "reserve") await reserve();
  else if (action === "delete") await remove();
  else await change(choice.begin);
}

section.addEventListener("click", ({ target, detail }) => {
  if (detail > 1) return; // the second click of a double click may be on another button
  const action = target.closest("[data-action]")?.dataset.action;
  if (action === "edit") openForm(shown.animal, shown.order, details.profile);
  else if (target.id === "change-order") changeOrder();
  else if (action) enqueue(action, target.closest("[data-action]").textContent);
});

/** Shows an animal that the form has changed. The profile is undefined if it is unchanged. */
export function showEdited(animal, profile) {
  countChange(animal.id, 2);
  if (here().animal !== String(animal.id)) return;
  details = { ...details, profile: profile ?? details.profile };
  show({ ...shown, animal });
}

watchPhotos((petId, after) => {
  countChange(petId, 2);
  if (shown.animal?.id !== petId) return;
  details = { ...details, profile: { ...details.profile, photos: after(details.profile.photos) } };
  show(shown);
}, reload);

byId("close-animal").addEventListener("click", (event) => {
  event.preventDefault();
  closeAnimal();
});

// The button that opened a dialog may be hidden when the dialog closes.
document.addEventListener("close", () => here().animal && focusIsLost() && view.focus(), true);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented && here().animal && !document.querySelector("dialog[open]")) closeAnimal();
});
