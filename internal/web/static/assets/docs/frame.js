// The reference and the guides are complete without their scripts. This script adds what both have: it copies code, marks the
// current place in the menu, and (in search.js) searches.
import { copy } from "../shared/clipboard.js";
import "./search.js";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const menu = document.getElementById("menu");

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
  const links = new Map(all('a[href^="#"]', menu).map((link) => [link.hash.slice(1), link]));
  const parts = all(".part[id], .guide :is(h1, h2, h3)[id]");
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
  document.addEventListener("scrollend", mark); // a jump may skip the line that the observer watches
}

// Scrolls only the menu, never the page.
function reveal(link) {
  const { top, bottom } = link.getBoundingClientRect();
  const frame = menu.getBoundingClientRect();
  if (top < frame.top || bottom > frame.bottom) menu.scrollTop += top - frame.top - frame.height / 3;
}

markCurrent();
addEventListener("click", ({ target }) => {
  const button = target.closest?.(".copy");
  if (button) copySample(button);
  if (target.closest?.("#menu a") && menu.matches(":popover-open")) menu.hidePopover();
});
