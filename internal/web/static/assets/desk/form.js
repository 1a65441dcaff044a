// The form that adds or edits an animal.

import { Refusal, Unreachable, retry } from "../shared/api.js";
import { clearErrors, placeErrors } from "../shared/fields.js";
import { Notice, explain as explainOnPage } from "../shared/notice.js";
import { categoryNumber, categoryText, watchPicker } from "./categories.js";
import { createPet, petUpdater, profileUpdater } from "./operations.js";
import { fillProfile, profileChanges, profileText } from "./profile.js";

const byId = (id) => document.getElementById(id);
const dialog = byId("add");
const form = byId("add-form");
const send = byId("send-add");
const notice = new Notice(byId("add-notice"));
const labels = {
  name: "Name", categoryId: "Category", status: "Status", breed: "Breed", sex: "Sex", bornOn: "Born", arrivedOn: "Arrival",
  description: "Description", tags: "Tags", notes: "Notes",
};
const refreshPicker = watchPicker(byId("categoryId"), byId("categories"), byId("categoryId-hint"));

let editing; // the animal to edit, as it was when the form was opened
let update; // sends the edit
let filled; // the form's content at that time; differs from the animal if a value has line breaks, which a field drops
let draft = {}; // the text typed for a new animal
let settled = true; // whether the edit was saved or given up
let sending; // aborts the request
let created = false; // whether the form itself added the animal that it edits

const typed = () => Object.fromEntries(new FormData(form));

/**
 * Opens the form for an existing or a new animal. The form still has the text typed for a new animal that was not added, or
 * for an edit that could not be sent.
 */
export function openForm(animal, order, profile) {
  if (!editing) draft = typed();
  const touched = JSON.stringify(typed()) !== JSON.stringify(filled);
  const kept = animal ? animal.id === editing?.id && !settled && touched && byId("status").disabled === Boolean(order) : !editing;
  editing = animal;
  settled = created = false;
  showTitle();
  setUpdaters();
  byId("status").disabled = Boolean(order);
  byId("held").hidden = !order;
  if (!kept) fill(animal ? { ...animal, categoryId: categoryText(animal.categoryId), ...profileText(profile) } : { ...profileText(), ...draft });
  refreshPicker();
  dialog.showModal();
}

function setUpdaters() {
  update = editing && { pet: petUpdater(editing.id), profile: profileUpdater(editing.id) };
}

function showTitle() {
  byId("add-title").textContent = editing ? `Edit ${editing.name}` : "Add an animal";
  send.textContent = editing ? "Save" : "Add";
}

function fill({ name, categoryId, status, ...profile }) {
  form.reset();
  clearErrors(labels);
  notice.clear();
  if (name !== undefined) byId("name").value = name;
  if (categoryId !== undefined) byId("categoryId").value = categoryId;
  if (status !== undefined) form.elements.status.value = status;
  fillProfile(profile);
  filled = typed();
}

/** Calls added or edited with each animal that the form adds or edits, and with its profile if that was changed. */
export function watchForm(added, edited) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!sending) submit(added, edited);
  });
  byId("cancel-add").addEventListener("click", () => {
    settled = true;
    dialog.close();
  });
  dialog.addEventListener("cancel", () => (settled = true));
  dialog.addEventListener("close", () => sending?.abort());
}

async function submit(added, edited) {
  sending = new AbortController();
  const { signal } = sending;
  const saved = {}; // what the server has saved: the animal and its profile
  clearErrors(labels);
  notice.clear();
  send.textContent = "Sending…";
  const wasNew = !editing;
  try {
    await retry(() => store(saved, signal), (refusal, seconds) => notice.countDown(refusal, seconds, signal));
    form.reset();
    settled = true;
    dialog.close();
    tell(saved, wasNew ? added : edited);
    if (created) editing = undefined;
  } catch (error) {
    if (saved.animal) tell(saved, wasNew ? added : edited);
    if (signal.aborted) notice.clear();
    else explain(error, saved.animal && (wasNew ? `${saved.animal.name} was added, but the rest was not saved.` : "Name, category and status were saved, but the rest was not."));
  } finally {
    sending = undefined;
    showTitle();
  }
}

const tell = ({ animal = editing, profile }, done) => done(animal, profile);

// An edit sends only the changed fields, so that other people's changes to other fields stay. Fields that the server has
// saved count as unchanged, so that sending the form again sends the rest.
async function store(saved, signal) {
  const now = typed();
  const changed = await petChanges(now, signal);
  const details = profileChanges(editing ? filled : profileText(), now);
  const has = (fields) => Object.keys(fields).length > 0;
  if (!editing || has(changed) || !has(details)) {
    saved.animal = editing ? await update.pet(changed, signal) : await createPet(changed, signal);
    if (!editing) {
      created = true;
      draft = {};
      filled = profileText();
    }
    editing = saved.animal;
    if (!update) setUpdaters();
    const { name, categoryId, status = filled.status } = now;
    filled = { ...filled, name, categoryId, status };
  }
  if (has(details)) saved.profile = await update.profile(details, signal);
}

async function petChanges({ name, categoryId, status }, signal) {
  const number = () => categoryNumber(categoryId, signal, /\P{White_Space}/u.test(name)); // without a name the server refuses the animal
  if (!editing) return { name: name || undefined, categoryId: (await number()) || undefined, status };
  const changed = {};
  if (name !== filled.name) changed.name = name;
  if (categoryId !== filled.categoryId) changed.categoryId = (await number()) ?? "";
  if (filled.status && status !== filled.status) changed.status = status;
  return changed;
}

// The argument half says what was saved, if only a part was.
function explain(error, half) {
  if (error instanceof Unreachable) {
    notice.say("The store cannot be reached", `${half ? `${half} It` : "This"} may or may not have been saved. Send it again when you are back online: it is never added twice.`);
  } else if (!(error instanceof Refusal)) {
    throw error;
  } else if (error.status === 401 || error.code === "forbidden") {
    dialog.close();
    explainOnPage(error);
  } else {
    const rest = placeErrors(form, labels, error.message);
    if (rest || half) notice.say(half ?? "That did not work", rest || "The message is at the field.");
  }
}
