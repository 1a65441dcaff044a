// What somebody else changes while a dialog about an animal is open. The dialog shows it and keeps what was typed. Sending a
// field that was changed meanwhile asks first.

import { stripBidi } from "../shared/notice.js";
import { here } from "./address.js";
import { categoryText } from "./categories.js";
import { onEvent } from "./events.js";
import { statusName } from "./words.js";

// The fields by name, as people call them.
const labels = {
  name: "name", categoryId: "category", status: "status", breed: "breed", sex: "sex", bornOn: "date of birth", arrivedOn: "arrival",
  description: "description", tags: "tags", notes: "notes", reference: "reference", hold: "hold",
};
const brief = ["name", "categoryId", "status", "breed", "reference"]; // the fields whose values fit into a sentence

const list = new Intl.ListFormat("en");

let initial; // the values of the fields when the dialog was opened
let typed = new Set(); // the fields that the person has changed in the open dialog
let changed = new Map(); // the fields that somebody has changed since it was opened, with their new text
let deleted = false;

const openDialog = () => (here().animal ? document.querySelector("dialog[open]:has(form)") : null);
const asText = (field, value) => (field === "categoryId" ? categoryText(value) : Array.isArray(value) ? value.join(", ") : String(value ?? ""));

function forget() {
  [initial, typed, changed, deleted] = [undefined, new Set(), new Map(), false];
  for (const place of document.querySelectorAll(".meanwhile")) place.remove();
}

// A value that the field has already is the person's own change.
function note(dialog, fields) {
  const form = dialog.querySelector("form");
  for (const [field, value] of Object.entries(fields)) {
    const text = asText(field, value);
    if (labels[field] && form.elements[field]?.value !== text) changed.set(field, text);
  }
  show(dialog);
}

function sentence() {
  if (deleted) return "Somebody has deleted this animal meanwhile.";
  const words = [...changed].map(([field, text]) => {
    const value = field === "status" ? statusName(text) : text;
    return `the ${labels[field]} ${brief.includes(field) && value ? `is now “${value}”` : ["tags", "notes"].includes(field) ? "have changed" : "has changed"}`;
  });
  return `Somebody has changed this animal meanwhile: ${list.format(words)}.`;
}

function show(dialog, question = "") {
  if (!deleted && !changed.size) return;
  let place = dialog.querySelector(".meanwhile");
  if (!place) {
    place = Object.assign(document.createElement("p"), { className: "meanwhile", role: "status" });
    dialog.querySelector("h2").after(place);
  }
  place.textContent = stripBidi(sentence() + question);
}

/** Notes how a load differs from what was shown before. */
export function noteLoaded(before, animal) {
  const dialog = openDialog();
  if (!dialog || !before) return;
  if (!animal) {
    deleted = true;
    return show(dialog);
  }
  note(dialog, Object.fromEntries(["name", "categoryId", "status"].filter((field) => before[field] !== animal[field]).map((field) => [field, animal[field]])));
}

onEvent(({ type, data, previous = {} }) => {
  const dialog = openDialog();
  const id = String(type.startsWith("pet.") ? data.id : data.petId);
  if (!dialog || id !== here().animal) return;
  const pick = (from, names) => Object.fromEntries(names.map((name) => [name, from[name]]));
  if (type === "pet.deleted") noteLoaded(data, undefined);
  else if (type === "pet.updated") note(dialog, pick(data, Object.keys(previous)));
  else if (type === "profile.updated") note(dialog, pick(data.profile, Object.keys({ ...previous.profile, ...newMembers(dialog, data.profile) })));
  else if (type === "order.updated") note(dialog, { ...("reference" in previous && { reference: data.reference }), ...(previous.expiresAt && { hold: "" }) });
});

// An event has no previous value of a member that had none. Then its field was empty when the dialog was opened.
const newMembers = (dialog, profile) => {
  const { elements } = dialog.querySelector("form");
  return Object.fromEntries(Object.entries(profile).filter(([name]) => elements[name] && !initial?.[name]));
};

// A dialog takes the focus when it is opened.
document.addEventListener("focusin", ({ target }) => {
  const form = target.closest("dialog")?.querySelector("form");
  if (form) initial ??= Object.fromEntries(new FormData(form));
});
document.addEventListener("input", ({ target }) => target.closest("dialog") && typed.add(target.name));
document.addEventListener("close", ({ target }) => target.matches("dialog") && forget(), true);
document.addEventListener(
  "submit",
  (event) => {
    const dialog = openDialog();
    const clash = [...typed].filter((field) => changed.has(field));
    if (!dialog?.contains(event.target) || !clash.length) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    show(dialog, ` To replace the ${list.format(clash.map((field) => labels[field]))}, press “${dialog.querySelector(".primary").textContent}” again.`);
    for (const field of clash) typed.delete(field);
  },
  true,
);
