// The form that adds or edits an animal.

import { Refusal, Unreachable, retry } from "../shared/api.js";
import { clearErrors, placeErrors } from "../shared/fields.js";
import { Notice, explain as explainOnPage } from "../shared/notice.js";
import { categoryNumber, categoryText, watchPicker } from "./categories.js";
import { createPet, petUpdater } from "./operations.js";

const byId = (id) => document.getElementById(id);
const dialog = byId("add");
const form = byId("add-form");
const send = byId("send-add");
const notice = new Notice(byId("add-notice"));
const labels = { name: "Name", categoryId: "Category", status: "Status" };
const refreshPicker = watchPicker(byId("categoryId"), byId("categories"), byId("categoryId-hint"));

let editing; // the animal to edit, as it was when the form was opened
let update; // sends the edit
let filled; // the form's content at that time; differs from the animal if a value has line breaks, which a field drops
let draft = {}; // the text typed for a new animal
let settled = true; // whether the edit was saved or given up
let sending; // aborts the request

const typed = () => Object.fromEntries(new FormData(form));

/**
 * Opens the form for an existing or a new animal. The form still has the text typed for a new animal that was not added, or
 * for an edit that could not be sent.
 */
export function openForm(animal, order) {
  if (!editing) draft = typed();
  const touched = JSON.stringify(typed()) !== JSON.stringify(filled);
  const kept = animal ? animal.id === editing?.id && !settled && touched && byId("status").disabled === Boolean(order) : !editing;
  editing = animal;
  update = animal && petUpdater(animal.id);
  settled = false;
  byId("add-title").textContent = animal ? `Edit ${animal.name}` : "Add an animal";
  send.textContent = animal ? "Save" : "Add";
  byId("status").disabled = Boolean(order);
  byId("held").hidden = !order;
  if (!kept) fill(animal ? { ...animal, categoryId: categoryText(animal.categoryId) } : draft);
  refreshPicker();
  dialog.showModal();
}

function fill({ name, categoryId, status }) {
  form.reset();
  clearErrors(labels);
  notice.clear();
  if (name !== undefined) byId("name").value = name;
  if (categoryId !== undefined) byId("categoryId").value = categoryId;
  if (status !== undefined) form.elements.status.value = status;
  filled = typed();
}

/** Calls added or edited with each animal that the form adds or edits. */
export function watchForm(added, edited) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!sending) submit(editing ? edited : added);
  });
  byId("cancel-add").addEventListener("click", () => {
    settled = true;
    dialog.close();
  });
  dialog.addEventListener("cancel", () => (settled = true));
  dialog.addEventListener("close", () => sending?.abort());
}

async function submit(done) {
  sending = new AbortController();
  const { signal } = sending;
  const label = send.textContent;
  clearErrors(labels);
  notice.clear();
  send.textContent = "Sending…";
  try {
    const animal = await retry(() => store(signal), (refusal, seconds) => notice.countDown(refusal, seconds, signal));
    form.reset();
    settled = true;
    dialog.close();
    done(animal);
  } catch (error) {
    if (signal.aborted) notice.clear();
    else explain(error);
  } finally {
    sending = undefined;
    send.textContent = label;
  }
}

// An edit sends only the changed fields, so that other people's changes to other fields stay.
async function store(signal) {
  const { name, categoryId, status } = typed();
  const number = () => categoryNumber(categoryId, signal, /\P{White_Space}/u.test(name)); // without a name the server refuses the animal
  if (!editing) return createPet({ name: name || undefined, categoryId: (await number()) || undefined, status }, signal);
  const changed = {};
  if (name !== filled.name) changed.name = name;
  if (categoryId !== filled.categoryId) changed.categoryId = (await number()) ?? "";
  if (filled.status && status !== filled.status) changed.status = status;
  return update(changed, signal);
}

function explain(error) {
  if (error instanceof Unreachable) {
    notice.say("The store cannot be reached", "This may or may not have been saved. Send it again when you are back online: it is never added twice.");
  } else if (!(error instanceof Refusal)) {
    throw error;
  } else if (error.status === 401 || error.code === "forbidden") {
    dialog.close();
    explainOnPage(error);
  } else {
    const rest = placeErrors(form, labels, error.message);
    if (rest) notice.say("That did not work", rest);
  }
}
