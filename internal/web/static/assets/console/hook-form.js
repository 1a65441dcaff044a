// The form that makes or changes a webhook.

import { Refusal, Unreachable, retry } from "../shared/api.js";
import { clearErrors, placeErrors } from "../shared/fields.js";
import { Notice, explain as explainOnPage } from "../shared/notice.js";
import { createWebhook, updateWebhook } from "./hook-operations.js";
import { explainLostSecret } from "./secret.js";

const byId = (id) => document.getElementById(id);
const labels = { url: "The address", types: "The list of events", description: "The description" };

/** Returns a function that opens the form for an existing or a new webhook. Calls made or changed with its result. */
export function hookForm(made, changed) {
  const dialog = byId("hook-form");
  const form = byId("hook-fields");
  const send = byId("hook-send");
  const notice = new Notice(byId("hook-notice"));
  let editing; // the webhook to change, as it was when the form was opened
  let sending; // aborts the wait before a request is sent again

  const words = () => form.elements.types.value.split(/[\s,]+/).filter(Boolean);

  function fields() {
    const { url, description } = Object.fromEntries(new FormData(form));
    if (!editing) return { url: url.trim() || undefined, types: words().length ? words() : undefined, description: description.trim() || undefined };
    const change = {};
    if (url.trim() !== editing.url) change.url = url.trim();
    if (words().join() !== editing.types.join()) change.types = words();
    if (description.trim() !== (editing.description ?? "")) change.description = description.trim() || null;
    return change;
  }

  function explain(error) {
    if (explainLostSecret(error)) return dialog.close();
    if (!dialog.open || error.status === 401 || error.code === "forbidden") {
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

  // A request that was sent runs to its end even if the dialog is closed, because its answer may have a secret.
  async function submit() {
    sending = new AbortController();
    const { signal } = sending;
    const label = send.textContent;
    const target = editing;
    clearErrors(labels);
    notice.clear();
    send.textContent = "Sending…";
    try {
      const store = () => (target ? updateWebhook(target.id, fields()) : createWebhook(fields()));
      const webhook = await retry(store, (refusal, seconds) => notice.countDown(refusal, seconds, signal));
      form.reset();
      dialog.close();
      (target ? changed : made)(webhook);
    } catch (error) {
      if (error.name === "AbortError") notice.clear();
      else explain(error);
    } finally {
      sending = undefined;
      send.textContent = label;
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!sending) submit();
  });
  byId("hook-cancel").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => sending?.abort());

  return function open(webhook) {
    if (webhook || editing) form.reset(); // what was typed for a new webhook stays
    editing = webhook;
    byId("hook-form-title").textContent = webhook ? "Change the webhook" : "Make a webhook";
    send.textContent = webhook ? "Save" : "Make the webhook";
    if (webhook) {
      form.elements.url.value = webhook.url;
      form.elements.types.value = webhook.types.join(", ");
      form.elements.description.value = webhook.description ?? "";
    }
    clearErrors(labels);
    notice.clear();
    dialog.showModal();
  };
}
