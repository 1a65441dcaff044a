// The view of all keys, one page at a time.

import { trail } from "../shared/address.js";
import { stripBidi } from "../shared/notice.js";
import { goBack, goFirst, goNext, here, link } from "./address.js";
import { openForm } from "./form.js";
import { listKeys } from "./operations.js";
import { accessName, element, inFull, lastUse, number, planName, plural, showState, stateOf } from "./words.js";

const byId = (id) => document.getElementById(id);
const rows = byId("rows");
const pager = byId("pager");
const template = byId("row").content.firstElementChild;

let next; // the cursor of the next page
let paging = false; // whether a button of the pager opened the view

export const keysView = {
  section: byId("keys"),
  tab: "keys",
  title: "Keys",
  lead: "Every person and program that uses this store has a key.",
  make: ["Make a key", () => openForm()],

  /** Shows that the list is being loaded. */
  prepare() {
    const { all } = here();
    for (const link of document.querySelectorAll("[data-show]")) link.ariaCurrent = (link.dataset.show === "all") === all ? "page" : null;
    paging = pager.contains(document.activeElement);
    byId("empty").hidden = true;
    byId("list").ariaBusy = "true";
  },

  /** Loads the page and shows it. */
  async load(signal, own) {
    const page = await listKeys(here(), signal);
    byId("list").ariaBusy = null;
    next = page.next;
    rows.replaceChildren(...page.keys.map((key) => row(key, own)));
    byId("list").hidden = page.keys.length === 0;
    showPager(page.keys.length);
    showEmpty(page.keys.length);
  },

  /** Shows nothing, because loading failed. */
  clear() {
    byId("list").ariaBusy = null;
    rows.replaceChildren();
    pager.hidden = true;
    byId("list").hidden = byId("empty").hidden = true;
    byId("summary").textContent = "";
  },

  /** Moves the focus after the view was opened: to the key that was open before, or else to the first key. */
  focus(key) {
    if (key) (rows.querySelector(`[data-key="${CSS.escape(key)}"]`) ?? byId("title")).focus();
    else (paging ? rows.querySelector("a") : byId("title"))?.focus();
  },
};

function row(key, own) {
  const made = template.cloneNode(true);
  const [name, state, plan, access, used] = made.children;
  const anchor = name.querySelector("a");
  anchor.textContent = anchor.title = key.name;
  anchor.href = link({ ...here(), key: key.id });
  anchor.dataset.key = key.id;
  if (key.id === own) name.append(element("small", "your key"));
  showState(state.firstElementChild, stateOf(key));
  plan.textContent = planName(key.plan);
  access.textContent = accessName(key.access);
  used.textContent = lastUse(key);
  made.title = `${stripBidi(key.name)}: made ${inFull(key.createdAt)}`;
  return made;
}

function showPager(shown) {
  const { all, cursor, page } = here();
  const place = next || cursor ? `page ${number(page)}` : "";
  byId("summary").textContent = shown ? `${plural(shown, all ? "key" : "active key")}${place && ` on ${place}`}, newest first` : "";
  byId("place").textContent = `Page ${number(page)}`;
  byId("next").disabled = !next;
  byId("previous").disabled = !cursor;
  byId("previous").textContent = cursor && !trail().length ? "First page" : "Previous";
  pager.hidden = !next && !cursor;
}

// Whoever sees the list has a key, so only a page after the first can be empty.
function showEmpty(shown) {
  const alone = shown === 1 && !here().cursor;
  byId("empty").hidden = shown > 0 && !alone;
  const [title, text] = byId("empty").querySelectorAll("h2, p");
  title.textContent = alone ? "Your key is the only one so far" : "No keys are left on this page";
  text.textContent = alone
    ? "Make one for each person and each program. Then you see who uses how much, and can end one key without the others."
    : "There are other keys on the pages before it.";
  byId("empty-act").textContent = alone ? "Make a key" : "Go to the first page";
  byId("empty-act").onclick = () => (alone ? openForm() : goFirst());
}

byId("next").addEventListener("click", () => next && goNext(next));
byId("previous").addEventListener("click", goBack);
