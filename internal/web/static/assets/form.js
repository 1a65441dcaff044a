// The form that adds an animal, and edits one.

import { Refusal, Unreachable, patiently } from "./api.js";
import { categoryNumber, categoryText, watchPicker } from "./categories.js";
import { Notice, explain as explainOnPage } from "./notice.js";
import { createPet, updatePet } from "./operations.js";

const byId = (id) => document.getElementById(id);
const dialog = byId("add");
const form = byId("add-form");
const send = byId("send-add");
const notice = new Notice(byId("add-notice"));
const labels = { name: "Name", categoryId: "Category", status: "Status" };
const refreshPicker = watchPicker(byId("categoryId"), byId("categories"), byId("categoryId-hint"));

let editing; // the animal as it was when the form was opened for it
let sending; // aborts what is being sent

/** Opens the form, for an animal that is there or for a new one. What was typed for a new one and not added is still there. */
export function openForm(animal, order) {
  if (animal || editing) {
    form.reset();
    clearErrors();
    notice.clear();
  }
  editing = animal;
  byId("add-title").textContent = animal ? `Edit ${animal.name}` : "Add an animal";
  send.textContent = animal ? "Save" : "Add";
  if (animal) {
    byId("name").value = animal.name;
    byId("categoryId").value = categoryText(animal.categoryId);
    form.elements.status.value = animal.status;
  }
  byId("status").disabled = Boolean(order);
  byId("held").hidden = !order;
  refreshPicker();
  dialog.showModal();
}

/** Calls added with each animal that the form adds, and edited with each that it changes. */
export function watchForm(added, edited) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!sending) submit(editing ? edited : added);
  });
  byId("cancel-add").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => sending?.abort());
}

async function submit(done) {
  sending = new AbortController();
  const { signal } = sending;
  const label = send.textContent;
  clearErrors();
  notice.clear();
  send.textContent = "Sending…";
  try {
    const animal = await patiently(() => store(signal), (refusal, seconds) => notice.count(refusal, seconds, signal));
    form.reset();
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

// An edit sends only what was changed, so that what somebody else changed meanwhile stays.
async function store(signal) {
  const typed = Object.fromEntries(new FormData(form));
  const categoryId = await categoryNumber(typed.categoryId, signal);
  if (!editing) return createPet({ name: typed.name || undefined, categoryId, status: typed.status }, signal);
  const now = { name: typed.name, categoryId: categoryId ?? "", status: typed.status ?? editing.status };
  const changed = Object.entries(now).filter(([field, value]) => value !== String(editing[field]));
  return updatePet(editing.id, Object.fromEntries(changed), signal);
}

function explain(error) {
  if (error instanceof Unreachable) {
    notice.say("The store cannot be reached", "It may or may not have heard. Send it again when you are back: it is never added twice.");
  } else if (!(error instanceof Refusal)) {
    throw error;
  } else if (error.status === 401 || error.code === "forbidden") {
    dialog.close();
    explainOnPage(error);
  } else {
    const rest = placeErrors(error.message);
    if (rest) notice.say("That did not work", rest);
  }
}

// A refusal names each faulty field at the head of a clause: "name is required; categoryId is required."
function placeErrors(message) {
  const rest = [];
  for (const clause of message.replace(/\.$/, "").split("; ")) {
    const [, field, problem] = clause.match(/^(name|categoryId|status) (.*)$/s) ?? [];
    if (!field) {
      rest.push(clause);
      continue;
    }
    byId(`${field}-error`).textContent = `${labels[field]} ${problem}.`;
    byId(field).ariaInvalid = "true";
  }
  form.querySelector("[aria-invalid=true]")?.focus();
  return rest.length && `${rest.join("; ")}.`;
}

function clearErrors() {
  for (const field of Object.keys(labels)) {
    byId(`${field}-error`).textContent = "";
    byId(field).removeAttribute("aria-invalid");
  }
}
