// The view of one key.

import { askToConfirm, confirmed, focusIsLost, watchDialog } from "../shared/dialogs.js";
import { say, stripBidi } from "../shared/notice.js";
import { storeName } from "../shared/store.js";
import { actor } from "./act.js";
import { closeOne, here, openKey } from "./address.js";
import { openForm } from "./form.js";
import { findKey, getKeyUsage, revokeKey, rotateKey, unbanKey } from "./operations.js";
import { showSecret } from "./secret.js";
import { showUsage } from "./usage.js";
import { accessName, fromNow, inFull, lastUse, number, planName, showFacts, showState, stateOf } from "./words.js";

const byId = (id) => document.getElementById(id);
const section = byId("one");
const buttons = section.querySelectorAll("[data-action]");

let shown; // the key on the page
let own; // the id of the key that the page uses

export const keyView = {
  section,
  tab: "keys",

  /** Shows that the key is being loaded. */
  prepare() {
    if (shown?.id !== here().key) show(undefined);
    section.ariaBusy = "true";
  },

  /** Loads the key and its usage, and shows them. */
  async load(signal, ownId) {
    const id = here().key;
    own = ownId;
    const [key, usage] = await Promise.all([findKey(id, signal), getKeyUsage(id, signal).catch(missing)]);
    if (id !== here().key) return;
    section.ariaBusy = null;
    show(key, !key);
    showUsage(key && usage);
  },

  /** Shows nothing, because loading failed. */
  clear() {
    section.ariaBusy = null;
    show(undefined);
  },

  focus: () => byId("one-name").focus(),
};

const missing = (error) => (error.status === 404 ? undefined : Promise.reject(error));

function show(key, isMissing = false) {
  const focused = document.activeElement;
  shown = key;
  section.classList.toggle("blank", !key && !isMissing);
  section.classList.toggle("none", isMissing);
  byId("one-name").textContent = key?.name ?? (isMissing ? "There is no such key" : "");
  byId("missing").hidden = !isMissing;
  byId("own").hidden = key?.id !== own || !key;
  byId("back").href = "console";
  if (key || isMissing) document.title = `${stripBidi(byId("one-name").textContent)} · ${storeName()} console`;
  if (key) describe(key);
  else showUsage(undefined);
  if (section.contains(focused) && !focused.checkVisibility()) keyView.focus();
}

function describe(key) {
  const state = stateOf(key);
  showState(byId("one-state"), state);
  showFacts(byId("facts"), factsOf(key));
  const possible = actionsFor(key, state);
  for (const button of buttons) button.hidden = !possible.includes(button.dataset.action);
}

function actionsFor({ id, revokedAt }, { kind }) {
  if (revokedAt) return [];
  if (kind === "ended") return ["change", "revoke"];
  return [...(kind === "banned" ? ["unban"] : []), "change", ...(id === own ? [] : ["rotate", "revoke"])];
}

function factsOf(key) {
  const when = (time) => [inFull(time), fromNow(time)];
  return [
    ["May", accessName(key.access)],
    ["Plan", planName(key.plan), `${number(key.perMinute)} requests a minute, ${number(key.perDay)} a day`],
    ["Last used", lastUse(key)],
    ["Made", ...when(key.createdAt)],
    key.revokedAt ? ["Revoked", ...when(key.revokedAt)] : ["Ends", ...(key.expiresAt ? when(key.expiresAt) : ["never"])],
    ["Id", key.id, key.owner === key.id ? "" : `rotated from a key of owner ${key.owner}`],
  ];
}

/** Shows a key that the form has changed. */
export function showChanged(key) {
  if (here().key === key.id) show(key);
}

// After a refusal, the key on the page may be out of date.
const act = actor(section, () => here().key && keyView.load(undefined, own).catch(() => {}));

async function rotate(key) {
  byId("rotate-title").textContent = stripBidi(`Rotate ${key.name}`);
  if (!(await confirmed(byId("rotate")))) return;
  const overlap = Number(byId("overlap").value);
  await act(
    () => rotateKey(key.id, overlap),
    async (successor) => {
      byId("rotate-form").reset();
      await showSecret(successor);
      openKey(successor.id);
      say(overlap ? `${key.name} has a new key. The old one ends ${fromNow(new Date(Date.now() + overlap * 1000).toISOString())}.` : `${key.name} has a new key. The old one has ended.`);
    },
  );
}

async function revoke(key) {
  const used = key.lastUsedAt ? `It was last used ${lastUse(key)}.` : "It was never used.";
  const text = `${used} Within five seconds, every request with it is refused. A revoked key never works again.`;
  if (!(await askToConfirm(`Revoke ${key.name}?`, text, "Revoke"))) return;
  await act(() => revokeKey(key.id), (revoked) => finish(revoked, `${key.name} is revoked.`));
}

const unban = (key) => act(() => unbanKey(key.id), (free) => finish(free, `${key.name} may send requests again.`));

function finish(key, text) {
  showChanged(key);
  say(text);
}

const actions = { change: openForm, rotate, revoke, unban };

section.addEventListener("click", ({ target, detail }) => {
  const action = target.closest("[data-action]")?.dataset.action;
  if (action && detail <= 1 && shown) actions[action](shown); // the second click of a double click may be on another button
});

watchDialog(byId("rotate"));

byId("back").addEventListener("click", (event) => {
  event.preventDefault();
  closeOne();
});

// The button that opened a dialog may be hidden when the dialog closes.
document.addEventListener("close", () => here().key && focusIsLost() && keyView.focus(), true);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented && (here().key || here().webhook) && !document.querySelector("dialog[open]")) closeOne();
});
