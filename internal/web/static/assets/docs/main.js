// What only the reference has: its samples name this server and are all in one language, and (in try.js) its forms send real
// requests.
import "./frame.js";
import { tryIt } from "./try.js";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

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

nameThisServer();
addEventListener("change", chooseLanguage);
tryIt();
