import { Refusal, Unreachable, apiKey, firstPage, limits, listPets, patiently } from "./api.js";
import { card, word } from "./cards.js";
import { openForm, watchForm } from "./form.js";
import { Notice } from "./notice.js";
import { draw } from "./portrait.js";

const byId = (id) => document.getElementById(id);
const list = byId("animals");
const more = byId("more");
const notice = new Notice(byId("notice"));
const statuses = ["available", "pending", "sold"];

let loading = new AbortController(); // aborts the page being fetched
let nextPage; // the address of the page after those shown
let view; // the filter of what is shown
let retry; // fetches again what could not be reached

/** The filter in the address; what is none of the statuses shows all. */
function filter() {
  const status = new URLSearchParams(location.search).get("status");
  return statuses.includes(status) ? status : "";
}

/** Shows what the address asks for, from its first page. */
function open() {
  const status = (view = filter());
  for (const link of document.querySelectorAll(".filter a")) {
    link.ariaCurrent = link.dataset.status === status ? "page" : null;
  }
  document.title = `${status ? word(status) : "All"} animals · Petstore`;
  byId("empty").hidden = more.hidden = true;
  if (apiKey.get()) fetchPage(firstPage(status));
  else askForKey();
}

/** Fetches a page and shows it: after those that are there if they are to stay, else instead of them. */
async function fetchPage(url, { stay = false } = {}) {
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  retry = undefined;
  notice.clear();
  list.ariaBusy = "true";
  byId("summary").textContent = "Fetching animals…";
  try {
    const page = await patiently(
      () => listPets(url, signal),
      (refusal, seconds) => notice.count(refusal, seconds, signal),
    );
    show(page, stay);
  } catch (error) {
    if (signal.aborted) return;
    if (!stay) list.replaceChildren();
    explain(error, () => fetchPage(url, { stay }));
  } finally {
    if (!signal.aborted) list.ariaBusy = null;
  }
}

function show({ animals, next }, stay) {
  const cards = animals.map(card);
  if (stay) list.append(...cards);
  else list.replaceChildren(...cards);
  if (stay) cards[0]?.focus();
  nextPage = next;
  more.hidden = !next;
  unlock();
  summarize();
}

function summarize() {
  const shown = list.childElementCount;
  const status = filter();
  const kind = `${status && `${status} `}${shown === 1 ? "animal" : "animals"}`;
  byId("summary").textContent = shown ? `${shown} ${kind} shown${nextPage ? ", there are more" : ""}` : "";
  byId("empty").hidden = shown > 0;
  if (shown) return;
  const [title, text, button] = byId("empty").querySelectorAll("h2, p, button");
  title.textContent = status ? `No animal is ${status}` : "No animals yet";
  text.textContent = status ? "The others may still be here." : "The store is open and empty. The first animal you add appears here.";
  button.textContent = status ? "Show all animals" : "Add the first animal";
  button.onclick = status ? () => go("./") : openForm;
}

function explain(error, again) {
  byId("summary").textContent = "";
  if (error.status === 401) return askForKey(error.message);
  unlock();
  if (error instanceof Unreachable) {
    retry = again;
    notice.say("The store cannot be reached", "Check the connection. Nothing is lost; this page waits.", "Try again", again);
  } else if (error instanceof Refusal) {
    notice.say("That did not work", error.message, "Try again", again);
  } else {
    throw error;
  }
}

/** Goes to another view of the store, as a link would. */
function go(address) {
  history.pushState(null, "", address);
  open();
}

// The key

function askForKey(reason = "") {
  apiKey.forget();
  list.replaceChildren();
  for (const id of ["bar", "open-add", "empty", "more", "gauge"]) byId(id).hidden = true;
  showKeyPanel(true);
  complainOfKey(reason);
}

function complainOfKey(reason) {
  byId("key-error").textContent = reason;
  byId("key").ariaInvalid = reason ? "true" : null;
  byId("key").focus();
}

function unlock() {
  byId("bar").hidden = byId("open-add").hidden = false;
  if (byId("key-panel").contains(document.activeElement)) byId("title").focus();
  showKeyPanel(false);
}

function showKeyPanel(visible) {
  byId("key-panel").hidden = !visible;
  byId("change-key").ariaExpanded = String(visible);
  byId("forget-key").hidden = !apiKey.get();
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const key = byId("key").value.trim();
  if (!/^[!-~]+$/.test(key)) {
    complainOfKey(key ? "An API key has only plain letters, digits and signs, and no spaces." : "Paste or type the API key first.");
    return;
  }
  apiKey.set(key);
  byId("key").value = "";
  complainOfKey("");
  open();
});

byId("change-key").addEventListener("click", () => {
  showKeyPanel(byId("key-panel").hidden || !apiKey.get());
  if (!byId("key-panel").hidden) byId("key").focus();
});

byId("forget-key").addEventListener("click", () => {
  loading.abort();
  notice.clear();
  askForKey();
});

// What is left of the rate limit

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

limits.addEventListener("limits", ({ detail: { limit, remaining, reset } }) => {
  const gauge = byId("gauge");
  gauge.hidden = false;
  gauge.title = `The limit resets at ${reset.toLocaleTimeString()}`;
  gauge.classList.toggle("low", remaining < limit / 10);
  gauge.querySelector(".left").setAttribute("stroke-dasharray", `${(100 * remaining) / limit} 100`);
  gauge.querySelector("b").textContent = short.format(remaining);
  gauge.querySelector(".wide").textContent = `of ${short.format(limit)} requests`;
});

// The rest of the wiring

watchForm(
  (animal) => {
    const status = filter();
    const fits = !status || status === animal.status;
    if (fits) list.prepend(card(animal));
    summarize();
    byId("summary").textContent = fits ? `${animal.name} was added` : `${animal.name} was added as ${animal.status}, which this filter hides`;
  },
  (refusal) => askForKey(`${refusal.message} What you typed is kept.`),
);

byId("open-add").addEventListener("click", openForm);
more.addEventListener("click", () => fetchPage(nextPage, { stay: true }));
window.addEventListener("popstate", () => filter() === view || open());
window.addEventListener("online", () => retry?.());

document.addEventListener("click", (event) => {
  const link = event.target.closest(".filter a, .brand");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.href);
});

for (const [i, svg] of document.querySelectorAll(".window svg").entries()) draw(svg, { id: i + 2, categoryId: i + 1 });

open();
