// The console's main script. It shows the view that the address names, to administrators.

import { forgetAccess, getOwnKey } from "../shared/access.js";
import { go, onMove } from "../shared/address.js";
import { Refusal, Unreachable, apiKey, retry } from "../shared/api.js";
import { closeDialogs, focusIsLost } from "../shared/dialogs.js";
import { explain, notice, onForbidden, onRefusedKey, say } from "../shared/notice.js";
import { askForKey, isAsking, unlock, watchKey } from "../shared/signin.js";
import { borrowKey } from "../shared/tabs.js";
import { storeName } from "../shared/store.js";
import { abandonActions } from "./act.js";
import { goFirst, here, openHook, openKey } from "./address.js";
import { watchForm } from "./form.js";
import { keyView, showChanged } from "./key.js";
import { keysView } from "./keys.js";
import { forgetWrites } from "./operations.js";
import { showSecret } from "./secret.js";
import { storeView } from "./store.js";

const byId = (id) => document.getElementById(id);

let opening = new AbortController(); // aborts the view that is being opened
let view; // the view that is shown
let wasOpen; // the key or webhook that the previous view showed
let hooks; // the views of webhooks, once somebody has opened one
let reopen; // opens the view again after a failure
let own; // the key that the page uses, as the server describes it

/** Opens the view that the address names. */
async function open() {
  stop();
  if (!apiKey.get()) return signOut();
  const from = view;
  const { signal } = opening;
  const asked = isAsking();
  if (!asked) unlock();
  const wanted = await viewHere();
  if (signal.aborted) return;
  switchTo(wanted ?? keysView);
  if (!wanted) return explain(new Unreachable(), () => location.reload());
  view.prepare();
  const focused = document.activeElement;
  notice.clear();
  try {
    await retry(() => load(signal), (refusal, seconds) => notice.countDown(refusal, seconds, signal));
    if (signal.aborted) return;
    unlock();
    if (asked) focusHeading();
    else if (from && (document.activeElement === focused || focusIsLost())) view.focus(!from.title && wasOpen);
    wasOpen = here().key || here().webhook;
  } catch (error) {
    if (signal.aborted) return;
    if (error.code === "forbidden") return refuseKey(signal);
    if (error.status !== 401) unlock();
    view.clear();
    reopen = open;
    explain(error, error.status === 400 ? goFirst : open); // 400 means that the address is wrong
  }
}

const allViews = () => [keysView, keyView, storeView, ...Object.values(hooks ?? {})];

/** The view that the address names, or undefined if it cannot be loaded. */
async function viewHere() {
  const { key, store, webhook, webhooks } = here();
  if (!webhook && !webhooks) return key ? keyView : store ? storeView : keysView;
  hooks ??= await import("./hooks.js").then(({ views }) => views, () => undefined);
  return webhook ? hooks?.oneView : hooks?.listView;
}

const focusHeading = () => (view.title ? byId("title") : view.section.querySelector("h1")).focus();

function stop() {
  opening.abort();
  opening = new AbortController();
  reopen = undefined;
}

function switchTo(next) {
  view = next;
  for (const { section } of allViews()) section.hidden = section !== view.section;
  for (const tab of byId("tabs").children) tab.ariaCurrent = tab.dataset.tab === view.tab ? (view.title ? "page" : "true") : null;
  byId("open-form").hidden = !view.make;
  if (view.make) byId("open-form").textContent = view.make[0];
  if (view.title) showTitle(view.title, view.lead);
}

function showTitle(title, lead) {
  byId("title").textContent = title;
  byId("lead").textContent = lead;
  document.title = `${title} · ${storeName()} console`;
}

async function load(signal) {
  if (!document.documentElement.dataset.access) own = await getOwnKey(signal);
  if (own.access !== "admin") throw new Refusal(403, "forbidden");
  await view.load(signal, own.id);
}

const accesses = { read: "may only read the store", write: "may read and change the store" };

// A key that is not an administrator's stays signed in, because the desk takes it.
async function refuseKey(signal) {
  if (own.access === "admin") own = await getOwnKey(signal).catch(() => own); // somebody has lowered it meanwhile
  const may = accesses[own.access] ?? "is not an administrator’s";
  if (!signal.aborted) signOut(`This key ${may}, but the console is for administrators. Sign in with an administrator’s key, or use this one at the desk.`);
}

function signOut(reason) {
  stop();
  closeDialogs();
  abandonActions();
  forgetWrites();
  notice.clear();
  for (const each of allViews()) each.clear();
  switchTo(keysView);
  showTitle("Console", "Who may use this store, and how much they use it.");
  askForKey(reason);
}

// If the server refuses a key, the console returns to the previous key, if there is one.
function keyRefused(reason) {
  if (!apiKey.get()) return signOut(reason);
  abandonActions();
  forgetAccess();
  open();
  notice.say("That key was refused", `${reason} This page continues with another key.`);
}

watchKey(open, () => signOut());
onRefusedKey(keyRefused);
onForbidden(open);
onMove(() => {
  closeDialogs();
  open();
});
window.addEventListener("online", () => reopen?.());

watchForm(
  async (key) => {
    await showSecret(key);
    openKey(key.id);
    say(`${key.name} has a key.`);
  },
  (key) => {
    showChanged(key);
    say(`${key.name} was saved.`);
  },
);

byId("open-form").addEventListener("click", () => view.make[1]());

document.addEventListener("click", (event) => {
  const link = event.target.closest(".filter a, .tabs a, .brand, .list a, .skip");
  if (link && event.detail > 1) return event.preventDefault(); // the second click of a double click
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.dataset.key) openKey(link.dataset.key);
  else if (link.dataset.hook) openHook(link.dataset.hook);
  else if (link.matches(".skip")) focusHeading();
  else go(link.href);
});

borrowKey().then(open);
