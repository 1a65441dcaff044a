// One animal, and what can be done with it.

import { choices, reserving } from "./actions.js";
import { closeAnimal, here } from "./address.js";
import { Refusal, patiently } from "./api.js";
import { showStatus } from "./cards.js";
import { categoryName } from "./categories.js";
import { askFirst, askReservation, forgetReservation, isLost } from "./dialogs.js";
import { openForm } from "./form.js";
import { hideAnimal } from "./list.js";
import { explain, notice, say, straight } from "./notice.js";
import { deletePet, findPet, openOrder } from "./operations.js";
import { draw } from "./portrait.js";

const byId = (id) => document.getElementById(id);
const section = byId("animal");
const buttons = section.querySelectorAll("[data-action]");

let shown = {}; // the animal and its open order, as they are shown
const changes = {}; // how many changes of an animal have begun and ended: while the number is odd, one is on its way
let waits = new AbortController(); // aborts the changes that wait for their turn at the server

export const animalView = {
  section,

  /** Says what is coming. */
  prepare() {
    const { animal } = here();
    if (String(shown.animal?.id) !== animal) shown = {};
    document.title = `Animal ${animal} · Petstore`;
    section.ariaBusy = "true";
    show(shown);
  },

  /** Fetches the animal and its order and shows them, once what else is fetched is there. */
  async look(signal, others) {
    const id = here().animal;
    const known = changes[id];
    const [animal, order] = await Promise.all([findPet(id, signal), openOrder(id, signal), others]);
    section.ariaBusy = null;
    if (changes[id] % 2 || changes[id] !== known || id !== here().animal) return; // what was fetched before a change says nothing
    const before = shown.animal;
    show({ animal, order, missing: !animal });
    if (before && animal && before.status !== animal.status) say(`${animal.name} is now ${animal.status}.`);
  },

  /** Shows nothing, because nothing could be fetched. */
  clear() {
    section.ariaBusy = null;
    show({});
  },

  focus: () => byId("animal-name").focus(),
  first: () => shown.animal?.id,
};

function show(next) {
  const focused = document.activeElement;
  shown = next;
  const { animal, order, missing } = shown;
  section.classList.toggle("blank", !animal);
  byId("animal-name").textContent = animal?.name ?? (missing ? `There is no animal ${here().animal}` : "");
  byId("missing").hidden = !missing;
  showOrder(order);
  if (animal || missing) document.title = `${straight(byId("animal-name").textContent)} · Petstore`;
  if (animal) describe(animal, order);
  if (section.contains(focused) && !focused.checkVisibility()) animalView.focus();
}

function describe(animal, order) {
  byId("animal-meta").textContent = `${categoryName(animal.categoryId)} · No.\u00a0${animal.id}`;
  showStatus(byId("animal-status"), animal.status);
  draw(section.querySelector(".portrait"), animal);
  showChoices(choices(animal, order));
}

function showChoices(possible) {
  for (const button of buttons) {
    const choice = button.dataset.action === "edit" ? { label: "Edit" } : possible[button.dataset.action];
    button.hidden = !choice;
    if (choice) button.textContent = choice.label;
  }
}

const moment = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });
const distance = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

function showOrder(order) {
  byId("order").hidden = !order;
  if (!order) return;
  byId("order-reference").textContent = order.reference ? `For ${order.reference}` : "Without a reference";
  byId("order-end").textContent = order.expiresAt
    ? `The hold ends ${moment.format(new Date(order.expiresAt))}, ${fromNow(new Date(order.expiresAt))}.`
    : "The order is being placed.";
  byId("order-number").textContent = order.id ? `Order ${order.id}, placed ${moment.format(new Date(order.createdAt))}` : "";
}

function fromNow(time) {
  const minutes = Math.round((time - Date.now()) / 60_000);
  if (Math.abs(minutes) < 90) return distance.format(minutes, "minute");
  return minutes < 2880 ? distance.format(Math.round(minutes / 60), "hour") : distance.format(Math.round(minutes / 1440), "day");
}

const count = (id, ends = 1) => (changes[id] = (changes[id] ?? 0) + ends);

// A change is shown at once and sent. If it is refused, it is taken back, and the server's words say why. If it is tried
// again, it is the same change, whatever is shown then. The promise is true if it was done.
async function change(begin, { animal, order } = shown) {
  const before = shown;
  const { after, said, send } = begin(animal, order);
  const still = () => here().animal === String(animal.id); // nobody has gone to another view meanwhile
  count(animal.id);
  notice.clear();
  show(after);
  try {
    const done = await patiently(() => send(), waiting);
    if (still()) show({ order: undefined, ...done });
    say(said);
    return true;
  } catch (error) {
    if (still()) show(before);
    const refused = error instanceof Refusal;
    if (error.name !== "AbortError") explain(error, refused || !still() ? undefined : () => change(begin, { animal, order }), unsure);
    if (refused) seeWhatIs();
    return false;
  } finally {
    count(animal.id);
  }
}

const unsure = "This may or may not have been done. To try again is safe: it is done once.";

// What was refused was decided on something that is no longer so.
const seeWhatIs = () => setTimeout(() => here().animal && animalView.look().catch(() => {}));

async function remove() {
  const { animal } = shown;
  if (!(await askFirst(`Delete ${animal.name}?`, "This cannot be undone, and its number is never given to another animal.", "Delete"))) return;
  notice.clear();
  hideAnimal(animal.id, true);
  closeAnimal();
  try {
    await patiently((attempt) => deletePet(animal.id).catch((error) => (attempt && error.status === 404 ? undefined : Promise.reject(error))), waiting);
    say(`${animal.name} was deleted.`);
  } catch (error) {
    hideAnimal(animal.id, false);
    if (error.name !== "AbortError") explain(error, undefined, unsure);
  }
}

const waiting = (refusal, seconds) => notice.count(refusal, seconds, waits.signal);

/** Forgets the changes that wait, and what was typed: whoever signs in next did not ask for them. */
export function abandonChanges() {
  forgetReservation();
  waits.abort();
  waits = new AbortController();
}

async function reserve() {
  const { animal } = shown;
  const fields = await askReservation(animal);
  if (fields && shown.animal?.id === animal.id && (await change(reserving(fields)))) forgetReservation();
}

// What is pressed while a change of the animal is on its way is done after it, if the animal is still open and it is possible.
const queues = {};
function enqueue(action) {
  const id = shown.animal?.id;
  queues[id] = Promise.resolve(queues[id]).then(() => here().animal === String(id) && perform(action)).catch(reportError);
}

async function perform(action) {
  const { animal, order } = shown;
  const choice = animal && choices(animal, order)[action];
  if (!choice) return;
  if (action === "reserve") await reserve();
  else if (action === "delete") await remove();
  else await change(choice.begin);
}

section.addEventListener("click", ({ target, detail }) => {
  if (detail > 1) return; // the second half of a double click would press the button that has come under the pointer
  const action = target.closest("[data-action]")?.dataset.action;
  if (action === "edit") openForm(shown.animal, shown.order);
  else if (action) enqueue(action);
});

/** Shows what the form has changed. */
export function showEdited(animal) {
  count(animal.id, 2);
  if (here().animal === String(animal.id)) show({ ...shown, animal });
}

byId("close-animal").addEventListener("click", (event) => {
  event.preventDefault();
  closeAnimal();
});

// The button that opened a dialog may be gone when the dialog closes.
document.addEventListener("close", () => here().animal && isLost() && animalView.focus(), true);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented && here().animal && !document.querySelector("dialog[open]")) closeAnimal();
});
