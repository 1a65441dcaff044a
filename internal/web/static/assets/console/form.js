// The form that makes or changes a key.

import { Refusal, Unreachable, retry } from "../shared/api.js";
import { clearErrors, placeErrors } from "../shared/fields.js";
import { Notice, explain as explainOnPage } from "../shared/notice.js";
import { createKey, updateKey } from "./operations.js";
import { explainLostSecret } from "./secret.js";
import { inFull, now } from "./words.js";

const byId = (id) => document.getElementById(id);
const dialog = byId("form");
const form = byId("key-fields");
const send = byId("send-form");
const notice = new Notice(byId("form-notice"));
const labels = { name: "Name", access: "Access", plan: "Plan", perMinute: "The limit", perDay: "The limit", expiresAt: "The end" };
const day = 86_400_000;

let editing; // the key to change, as it was when the form was opened
let filled; // the form's content at that time
let draft = {}; // the text typed for a new key
let settled = true; // whether the change was saved or given up
let sending; // aborts the wait before a request is sent again
let end; // when a key that ends in some days ends; stays the same if the same request is sent again

const typed = () => Object.fromEntries(new FormData(form));

/**
 * Opens the form for an existing or a new key. The form still has the text typed for a new key that was not made, or for a
 * change that could not be sent.
 */
export function openForm(key) {
  if (!editing) draft = typed();
  const kept = key ? key.id === editing?.id && !settled && JSON.stringify(typed()) !== JSON.stringify(filled) : !editing;
  editing = key;
  settled = false;
  byId("form-title").textContent = key ? `Change ${key.name}` : "Make a key";
  send.textContent = key ? "Save" : "Make the key";
  byId("plan-hint").hidden = !key;
  offerToKeepEnd(key?.expiresAt);
  if (!kept) fill(key ? { ...key, ends: key.expiresAt ? "keep" : "never", expiresAt: "" } : draft);
  showDetails();
  dialog.showModal();
}

function offerToKeepEnd(expiresAt) {
  const [option] = byId("ends").options;
  option.hidden = option.disabled = !expiresAt;
  option.textContent = expiresAt ? `As it is: ${inFull(expiresAt)}` : "";
}

function fill(values) {
  form.reset();
  end = undefined;
  clearErrors(labels);
  notice.clear();
  for (const [name, value] of Object.entries(values)) if (form.elements[name]) form.elements[name].value = value;
  filled = typed();
}

// Shows the limits and the date only if they can be chosen.
function showDetails() {
  byId("limits").hidden = byId("plan").value !== "enterprise";
  byId("date").hidden = byId("ends").value !== "date";
}

byId("plan").addEventListener("change", showDetails);
byId("ends").addEventListener("change", () => {
  end = undefined;
  showDetails();
});

/** Calls made or changed with each key that the form makes or changes. */
export function watchForm(made, changed) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!sending) submit(editing ? changed : made);
  });
  byId("cancel-form").addEventListener("click", () => {
    settled = true;
    dialog.close();
  });
  dialog.addEventListener("cancel", () => (settled = true));
  dialog.addEventListener("close", () => sending?.abort());
}

// A request that was sent runs to its end even if the dialog is closed, because its answer may have a secret.
async function submit(done) {
  sending = new AbortController();
  const { signal } = sending;
  const label = send.textContent;
  clearErrors(labels);
  notice.clear();
  send.textContent = "Sending…";
  try {
    const key = await retry(store, (refusal, seconds) => notice.countDown(refusal, seconds, signal));
    finish();
    done(key);
  } catch (error) {
    if (error.name === "AbortError") notice.clear();
    else explain(error);
  } finally {
    sending = undefined;
    send.textContent = label;
  }
}

function finish() {
  form.reset();
  end = undefined;
  settled = true;
  dialog.close();
}

const store = () => (editing ? updateKey(editing.id, changedFields()) : createKey(allFields()));

function allFields() {
  const { name, access, plan } = typed();
  return { name: name || undefined, access, plan, ...limitsOf(plan), expiresAt: expiry() ?? undefined };
}

// A change sends only the changed fields, so that other people's changes to other fields stay.
function changedFields() {
  const { name, access, plan, perMinute, perDay, ends } = typed();
  const changed = {};
  if (name !== filled.name) changed.name = name;
  if (access !== filled.access) changed.access = access;
  if (plan !== filled.plan) Object.assign(changed, { plan }, limitsOf(plan));
  else if (plan === "enterprise") {
    if (perMinute !== filled.perMinute) changed.perMinute = whole(perMinute);
    if (perDay !== filled.perDay) changed.perDay = whole(perDay);
  }
  if (ends !== filled.ends) changed.expiresAt = expiry();
  return changed;
}

function limitsOf(plan) {
  const { perMinute, perDay } = typed();
  return plan === "enterprise" ? { perMinute: whole(perMinute), perDay: whole(perDay) } : {};
}

// People write 10,000 or 10 000. The server explains what is wrong with anything else.
function whole(text) {
  const digits = text.replace(/[\s,]/g, "");
  return /^\d{1,15}$/.test(digits) ? Number(digits) : text || undefined;
}

function expiry() {
  const { ends, expiresAt } = typed();
  if (ends === "never") return null;
  if (ends === "date") return expiresAt && new Date(expiresAt).toISOString();
  return (end ??= new Date(now() + Number(ends) * day).toISOString());
}

function explain(error) {
  if (explainLostSecret(error)) return finish();
  const elsewhere = !dialog.open || error.status === 401 || error.code === "forbidden";
  if (elsewhere) {
    dialog.close();
    explainOnPage(error);
  } else if (error instanceof Unreachable) {
    notice.say("The store cannot be reached", "This may or may not have been done. Send it again when you are back online: it is done once.");
  } else if (!(error instanceof Refusal)) {
    throw error;
  } else {
    const rest = placeErrors(form, labels, error.message);
    if (rest) notice.say("That did not work", rest);
  }
}
