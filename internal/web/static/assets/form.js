import { Refusal, Unreachable, createPet, newAttempt, patiently } from "./api.js";
import { Notice } from "./notice.js";

const dialog = document.getElementById("add");
const form = document.getElementById("add-form");
const send = document.getElementById("send-add");
const notice = new Notice(document.getElementById("add-notice"));
const labels = { name: "Name", categoryId: "Category", status: "Status" };

let attempt; // what was sent last and may have arrived
let sending; // aborts what is being sent

/** Opens the form. What was typed into it and not added is still there. */
export const openForm = () => dialog.showModal();

/** Calls added with each animal the form adds, and refused when the key was. */
export function watchForm(added, refused) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!sending) submit(added, refused);
  });
  document.getElementById("cancel-add").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => sending?.abort());
}

async function submit(added, refused) {
  sending = new AbortController();
  const { signal } = sending;
  const body = encode(new FormData(form));
  if (attempt?.body !== body) attempt = newAttempt(body);
  clearErrors();
  notice.clear();
  send.textContent = "Adding…";
  try {
    const animal = await patiently(
      () => createPet(attempt, signal),
      (refusal, seconds) => notice.count(refusal, seconds, signal),
    );
    attempt = undefined;
    form.reset();
    dialog.close();
    added(animal);
  } catch (error) {
    if (signal.aborted) notice.clear();
    else explain(error, refused);
  } finally {
    sending = undefined;
    send.textContent = "Add";
  }
}

// What was typed is sent as it is, so that the server, and only the server, says what is wrong with it.
function encode(data) {
  const members = [];
  const name = data.get("name");
  const category = data.get("categoryId").trim();
  if (name) members.push(`"name":${JSON.stringify(name)}`);
  if (category) members.push(`"categoryId":${/^-?(0|[1-9]\d*)$/.test(category) ? category : JSON.stringify(category)}`);
  members.push(`"status":${JSON.stringify(data.get("status"))}`);
  return `{${members.join(",")}}`;
}

function explain(error, refused) {
  if (error instanceof Unreachable) {
    notice.say("The store cannot be reached", "It may or may not have heard. Send it again when you are back: it is never added twice.");
  } else if (!(error instanceof Refusal)) {
    throw error;
  } else if (error.status === 401) {
    dialog.close();
    refused(error);
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
    document.getElementById(`${field}-error`).textContent = `${labels[field]} ${problem}.`;
    document.getElementById(field).ariaInvalid = "true";
  }
  form.querySelector("[aria-invalid=true]")?.focus();
  return rest.length && `${rest.join("; ")}.`;
}

function clearErrors() {
  for (const field of Object.keys(labels)) {
    document.getElementById(`${field}-error`).textContent = "";
    document.getElementById(field).removeAttribute("aria-invalid");
  }
}
