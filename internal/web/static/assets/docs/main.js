// The reference is complete without this script. The script adds what only a script can do: it copies code, shows all
// samples in one language, marks the current place in the menu, and (in try.js) sends real requests.
import { copy } from "../shared/clipboard.js";
import { tryIt } from "./try.js";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const menu = document.getElementById("menu");

// A server that does not know its address guesses it in the samples. This script replaces the guess with the page's address.
function nameThisServer() {
  const { guess } = document.body.dataset;
  const here = new URL(".", document.baseURI).href.slice(0, -1);
  if (!guess || guess === here) return;
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (text.data.includes(guess)) text.data = text.data.replaceAll(guess, here);
  }
}

// A language chosen for one sample applies to all samples.
function chooseLanguage({ target }) {
  if (!target.matches(".languages input")) return;
  const before = target.getBoundingClientRect().top;
  for (const other of all(`.languages input[value="${target.value}"]`)) other.checked = true;
  scrollBy({ top: target.getBoundingClientRect().top - before, behavior: "instant" });
}

async function copySample(button) {
  const sample = all("pre", button.closest(".code")).find((pre) => pre.checkVisibility());
  const done = (await copy(sample)) ? "Copied" : "Press Ctrl+C";
  const label = button.firstChild;
  label.data = done;
  document.getElementById("said").textContent = done;
  setTimeout(() => (label.data = "Copy"), 2000);
}

// Marks the menu link to the part of the page at the top of the window.
function markCurrent() {
  const links = new Map(all("a", menu).map((link) => [link.hash.slice(1), link]));
  const parts = all(".part");
  let current;
  const mark = () => {
    const part = parts.findLast((part) => part.getBoundingClientRect().top <= innerHeight / 4) ?? parts[0];
    if (part.id === current) return;
    links.get(current)?.removeAttribute("aria-current");
    current = part.id;
    links.get(current)?.setAttribute("aria-current", "true");
    if (links.get(current)?.checkVisibility()) reveal(links.get(current));
  };
  const watch = new IntersectionObserver(mark, { rootMargin: "-25% 0px -75% 0px" });
  for (const part of parts) watch.observe(part);
}

// Scrolls only the menu, never the page.
function reveal(link) {
  const { top, bottom } = link.getBoundingClientRect();
  const frame = menu.getBoundingClientRect();
  if (top < frame.top || bottom > frame.bottom) menu.scrollTop += top - frame.top - frame.height / 3;
}

nameThisServer();
markCurrent();
addEventListener("change", chooseLanguage);
addEventListener("click", ({ target }) => {
  const button = target.closest?.(".copy");
  if (button) copySample(button);
  if (target.closest?.("#menu a") && menu.matches(":popover-open")) menu.hidePopover();
});
tryIt();
