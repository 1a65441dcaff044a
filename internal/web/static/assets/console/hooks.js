// The views of webhooks: all of them, and one. The console loads this script when somebody opens one of these views.

import { askToConfirm, confirmed, focusIsLost, watchDialog } from "../shared/dialogs.js";
import { say, stripBidi } from "../shared/notice.js";
import { storeName } from "../shared/store.js";
import { actor } from "./act.js";
import { closeOne, here, link, openHook } from "./address.js";
import { addParts } from "./hook-parts.js";
import { hookForm } from "./hook-form.js";
import * as api from "./hook-operations.js";
import { showHookSecret } from "./secret.js";
import { element, fromNow, inFull, number, plural, showFacts, showState } from "./words.js";

addParts();

const byId = (id) => document.getElementById(id);
const list = byId("hook-list");
const section = byId("hook");
const buttons = section.querySelectorAll("[data-action]");

const nameOf = ({ description, url }) => description ?? url;

const kinds = { active: "active", pending: "ending", failing: "banned", disabled: "ended" };
const labels = { active: "Active", pending: "No ping answered yet", failing: "Failing", disabled: "Disabled" };
const stateOf = ({ status }) => ({ kind: kinds[status] ?? "ended", label: labels[status] ?? status });

const reasons = {
  failed: "No attempt succeeded for 72 hours, so the server has disabled this webhook. Nothing is lost that the feed still has: enable it when the receiver works again.",
  gone: "The receiver answered 410, which means that it is gone, so the server has disabled this webhook.",
  restored: "The database was restored, so the server has disabled this webhook. It stands at the end of the feed.",
  events_gone: "This webhook was so far behind that it missed events, which are no longer kept. It went on at the oldest.",
};

const listView = {
  section: byId("hooks"),
  tab: "webhooks",
  title: "Webhooks",
  lead: "A webhook sends events to another program as they happen.",
  make: ["Make a webhook", () => openForm()],

  prepare() {
    list.ariaBusy = "true";
  },

  async load(signal) {
    const webhooks = await api.listWebhooks(signal);
    list.ariaBusy = null;
    byId("hook-rows").replaceChildren(...webhooks.map(row));
    list.hidden = webhooks.length === 0;
    byId("hook-empty").hidden = webhooks.length > 0;
    byId("hook-summary").textContent = webhooks.length ? `${plural(webhooks.length, "webhook")}, newest first` : "";
  },

  clear() {
    list.ariaBusy = null;
    list.hidden = byId("hook-empty").hidden = true;
    byId("hook-rows").replaceChildren();
    byId("hook-summary").textContent = "";
  },

  focus: (id) => (id && byId("hook-rows").querySelector(`[data-hook="${CSS.escape(id)}"]`) || byId("title")).focus(),
};

function row(webhook) {
  const made = byId("hook-row").content.firstElementChild.cloneNode(true);
  const [name, state, behind, position] = made.children;
  const anchor = name.querySelector("a");
  anchor.textContent = anchor.title = nameOf(webhook);
  anchor.href = link({ webhook: webhook.id });
  anchor.dataset.hook = webhook.id;
  if (webhook.description) name.append(element("small", webhook.url));
  showState(state.firstElementChild, stateOf(webhook));
  behind.textContent = webhook.behind ? plural(webhook.behind, "event") : "up to date";
  position.textContent = webhook.position;
  return made;
}

let shown; // the webhook on the page

const oneView = {
  section,
  tab: "webhooks",

  prepare() {
    if (shown?.id !== here().webhook) show(undefined);
    section.ariaBusy = "true";
  },

  async load(signal) {
    const id = here().webhook;
    const [webhook, deliveries] = await Promise.all([api.findWebhook(id, signal), api.listDeliveries(id, signal)]);
    if (id !== here().webhook) return;
    section.ariaBusy = null;
    show(webhook, !webhook);
    showDeliveries(deliveries);
  },

  clear() {
    section.ariaBusy = null;
    show(undefined);
  },

  focus: () => byId("hook-name").focus(),
};

export const views = { listView, oneView };

function show(webhook, isMissing = false) {
  const focused = document.activeElement;
  shown = webhook;
  section.classList.toggle("blank", !webhook && !isMissing);
  section.classList.toggle("none", isMissing);
  byId("hook-name").textContent = webhook ? nameOf(webhook) : isMissing ? "There is no such webhook" : "";
  byId("hook-reason").hidden = !webhook?.reason;
  if (webhook || isMissing) document.title = `${stripBidi(byId("hook-name").textContent)} · ${storeName()} console`;
  if (webhook) describe(webhook);
  if (section.contains(focused) && !focused.checkVisibility()) oneView.focus();
}

function describe(webhook) {
  const when = (time) => [inFull(time), fromNow(time)];
  showState(byId("hook-state"), stateOf(webhook));
  byId("hook-reason").textContent = reasons[webhook.reason] ?? webhook.reason ?? "";
  showFacts(byId("hook-facts"), [
    ["Address", webhook.url],
    ["Events", webhook.types.join(", ")],
    ["Behind", webhook.behind ? plural(webhook.behind, "event") : "up to date"],
    ["Position", webhook.position],
    ...(webhook.failingSince ? [["Failing since", ...when(webhook.failingSince)]] : []),
    ["Made", ...when(webhook.createdAt)],
    ["Id", webhook.id],
  ]);
  for (const button of buttons) button.hidden = button.dataset.action === (webhook.enabled ? "enable" : "disable");
}

function showDeliveries(deliveries) {
  byId("hook-tried").hidden = deliveries.length === 0;
  byId("hook-untried").hidden = deliveries.length > 0;
  byId("hook-deliveries").replaceChildren(
    ...deliveries.map(({ at, eventId, status, error, milliseconds, skipped }) => {
      const made = document.createElement("tr");
      const answer = [status, error, skipped && "given up"].filter(Boolean).join(", ");
      const head = element("th", inFull(at));
      head.scope = "row";
      made.append(head, element("td", eventId), element("td", answer), element("td", `${number(milliseconds)} ms`));
      return made;
    }),
  );
}

const reload = () => here().webhook && oneView.load().catch(() => {});
const act = actor(section, reload);

const openForm = hookForm(
  async (webhook) => {
    await showHookSecret(nameOf(webhook), webhook.secret);
    openHook(webhook.id);
    say("The webhook is made. Events follow after its receiver has answered a ping.");
  },
  (webhook) => finish(webhook, "The webhook was saved."),
);

function finish(webhook, text) {
  if (here().webhook === webhook.id) show(webhook);
  say(text);
}

const change = (id, fields, text) => act(() => api.updateWebhook(id, fields), (webhook) => finish(webhook, text));

const actions = {
  change: openForm,
  enable: ({ id }) => change(id, { enabled: true }, "The webhook goes on where it stood."),
  disable: ({ id }) => change(id, { enabled: false }, "The webhook is disabled. It loses nothing that the feed still has."),

  ping: ({ id }) =>
    act(
      () => api.pingWebhook(id),
      async ({ status, error }) => {
        await reload();
        say(error ? `The ping failed: ${[status, error].filter(Boolean).join(", ")}.` : `The receiver answered the ping with ${status}.`);
      },
    ),

  async replay({ id, position }) {
    byId("position").value = position;
    if (!(await confirmed(byId("replay")))) return;
    const to = byId("replay-form").elements.from.value === "now" ? "now" : byId("position").value.trim();
    await change(id, { position: to }, to === "now" ? "The webhook goes on with what happens from now on." : `The webhook goes on after ${to}.`);
  },

  async rotate({ id, ...webhook }) {
    const text = "You get a new secret. For 24 hours, every request is signed with both, so that the receiver can change to the new one.";
    if (!(await askToConfirm(`Rotate the secret of ${nameOf(webhook)}?`, text, "Rotate"))) return;
    await act(
      () => api.rotateWebhook(id),
      async (rotated) => {
        await showHookSecret(nameOf(rotated), rotated.secret);
        finish(rotated, "The webhook has a new secret.");
      },
    );
  },

  async delete({ id, ...webhook }) {
    const text = "No more events are sent, and the list of deliveries is deleted too. That cannot be undone.";
    if (!(await askToConfirm(`Delete ${nameOf(webhook)}?`, text, "Delete"))) return;
    await act(
      () => api.deleteWebhook(id),
      () => {
        closeOne();
        say(`${nameOf(webhook)} was deleted.`);
      },
    );
  },
};

section.addEventListener("click", ({ target, detail }) => {
  const action = target.closest("[data-action]")?.dataset.action;
  if (action && detail <= 1 && shown) actions[action](shown); // the second click of a double click may be on another button
});

watchDialog(byId("replay"));
byId("replay-form").addEventListener("change", () => (byId("position-field").hidden = byId("replay-form").elements.from.value === "now"));
byId("hook-make").addEventListener("click", () => openForm());

byId("hook-back").addEventListener("click", (event) => {
  event.preventDefault();
  closeOne();
});

// The button that opened a dialog may be hidden when the dialog closes.
document.addEventListener("close", () => here().webhook && focusIsLost() && oneView.focus(), true);
