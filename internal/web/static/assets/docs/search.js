// Searches the reference and the guides. "/" and Ctrl+K open the search.
const byId = (id) => document.getElementById(id);
const [dialog, input, list, count] = ["search", "query", "found", "count"].map(byId);
const root = document.querySelector(".brand").href;
const most = 20; // results that are shown
const kinds = ["Operation", "Guide", "Section", "Error", "Field"]; // of equal results, the earlier kind comes first

let index; // a promise of everything that can be found

async function load() {
  const answer = await fetch(new URL("docs/search.json", root));
  if (!answer.ok) throw new Error(answer.statusText);
  return (await answer.json()).map((entry) => ({ ...entry, name: entry.title.toLowerCase(), text: entry.detail.toLowerCase() }));
}

function open() {
  if (dialog.open) return;
  index ??= load();
  byId("menu").hidePopover();
  dialog.showModal();
  input.select();
  show();
}

// How well an entry matches the words: 0 is best. Every word must occur in the title or the detail. A word that begins in the
// title beats one inside of it, which beats one in the detail.
function rank({ name, text }, words) {
  let worst = 0;
  for (const word of words) {
    const at = name.indexOf(word);
    const begins = at === 0 || /[\W_]/.test(name[at - 1] ?? "a");
    const score = name === word ? 0 : begins ? 1 : at > 0 ? 2 : text.includes(word) ? 3 : Infinity;
    worst = Math.max(worst, score);
  }
  return worst;
}

async function show() {
  const query = input.value.trim();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  let entries;
  try {
    entries = await index;
  } catch {
    index = undefined;
    return tell("The search could not be loaded. Close it and try again.", []);
  }
  if (query !== input.value.trim()) return; // more was typed meanwhile
  if (!words.length) return tell("", []);
  const matches = entries
    .map((entry) => ({ entry, score: rank(entry, words) }))
    .filter(({ score }) => score < Infinity)
    .sort((a, b) => a.score - b.score || kinds.indexOf(a.entry.kind) - kinds.indexOf(b.entry.kind));
  if (!matches.length) return tell(`Nothing is called “${query}”.`, []);
  const all = matches.length === 1 ? "1 result" : `${matches.length} results`;
  tell(matches.length > most ? `${all}, of which these ${most} match best` : all, matches.slice(0, most).map(({ entry }) => item(entry)));
}

function tell(text, items) {
  count.textContent = text;
  list.replaceChildren(...items);
}

function item({ kind, title, detail, href }) {
  const link = element("a", "", element("span", "found-kind", kind), element("strong", "", title), element("span", "found-detail", detail));
  link.href = new URL(href, root);
  return element("li", "", link);
}

function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

// The arrows move between the field and the results.
function move(event) {
  const stops = [input, ...list.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    stops[(at + step + stops.length) % stops.length].focus();
  } else if (event.key === "Enter" && at === 0) {
    stops[1]?.click();
  } else {
    if (at > 0 && event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) input.focus(); // and types there
    return;
  }
  event.preventDefault();
}

const isTyping = ({ target }) => target.closest?.("input:not([type=radio]), textarea, select");

addEventListener("keydown", (event) => {
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event);
  if (!isSlash && !((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k")) return;
  event.preventDefault();
  open();
});
document.querySelector(".open-search").addEventListener("click", open);
input.addEventListener("input", show);
dialog.addEventListener("keydown", move);
dialog.addEventListener("click", ({ target }) => {
  if (target === dialog || target.closest("a")) dialog.close();
});
