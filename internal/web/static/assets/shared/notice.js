// Messages to the person at the page. A message has a button if the person can act, or a countdown if they can only wait.

import { forgetAccess } from "./access.js";
import { Refusal, Unreachable } from "./api.js";

const byId = (id) => document.getElementById(id);

const pauses = {
  rate_limited: ["A short pause", "This key has used up its requests for now."],
  key_banned: ["This key is banned for now", "It kept sending requests after it was told to wait."],
  unavailable: ["One moment", "The store cannot do this right now. Nothing is lost."],
};

/** A part of the page that shows one message at a time. */
export class Notice {
  #place;

  constructor(place) {
    this.#place = place;
  }

  clear() {
    this.#place.replaceChildren();
  }

  isEmpty = () => !this.#place.hasChildNodes();

  /** Shows a message with an optional button. */
  say(title, text, label, action) {
    const children = [element("strong", title), element("p", text)];
    if (label) {
      const button = element("button", label);
      button.type = "button";
      button.addEventListener("click", action);
      children.push(button);
    }
    this.#place.replaceChildren(...children);
    return children[0]; // stays connected as long as the message is shown
  }

  /** Shows why the page waits, with a countdown. The promise resolves when the countdown ends, or rejects on the signal. */
  async countDown({ code, message }, seconds, signal) {
    const [title, text] = pauses[code] ?? ["One moment", message];
    const end = Date.now() + seconds * 1000;
    this.say(title, `${text} Trying again in ${inWords(seconds)}.`);
    const clock = element("span", "");
    clock.className = "clock";
    clock.ariaHidden = "true"; // a screen reader should not read every second
    this.#place.append(clock);
    for (let left = seconds; left > 0; left = Math.ceil((end - Date.now()) / 1000)) {
      clock.textContent = digits(left);
      await sleep(Math.min(1000, end - Date.now()), signal);
    }
    if (clock.isConnected) this.clear();
  }
}

/** The notice of the page, for every view. */
export const notice = new Notice(byId("notice"));

const toast = byId("said");
let fading;

/** Removes the characters that reverse the direction of the text after them. */
export const stripBidi = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

/** Shows for a few seconds what the page has done. */
export function say(text, milliseconds = 8000) {
  unsay();
  toast.textContent = stripBidi(text);
  fade(milliseconds);
}

/** Removes what say has shown, and the button beside it. */
export function unsay() {
  clearTimeout(fading);
  toast.replaceChildren();
  byId("offer")?.replaceChildren();
}

// The message stays while the person points at it, or the focus is in it.
function fade(milliseconds) {
  fading = setTimeout(() => (toast.parentElement.matches(".said:is(:hover, :focus-within)") ? fade(1000) : unsay()), milliseconds);
}

/** Calls back with the server's message whenever the server refuses the key. */
export const onRefusedKey = (callback) => document.addEventListener("refused-key", ({ detail }) => callback(detail));

/** Calls back whenever the server refuses something that the key may not do. */
export const onForbidden = (callback) => document.addEventListener("forbidden", () => callback());

/** Shows an error with the server's message, if there is one, and a button that retries. Returns what say returns. */
export function explain(error, again, lost = "Check the connection. Nothing is lost; this page waits.") {
  if (error instanceof Unreachable) {
    return notice.say("The store cannot be reached", lost, again && "Try again", again);
  } else if (!(error instanceof Refusal)) {
    throw error;
  } else if (error.status === 401) {
    document.dispatchEvent(new CustomEvent("refused-key", { detail: error.message }));
  } else if (error.code === "forbidden") {
    forgetAccess();
    document.dispatchEvent(new Event("forbidden"));
    return notice.say("That did not work", error.message);
  } else {
    return notice.say("That did not work", error.message, again && "Try again", again);
  }
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function digits(seconds) {
  const two = (n) => String(Math.floor(n) % 60).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds)}`;
  return `${Math.floor(seconds / 3600)}:${two(seconds / 60)}:${two(seconds)}`;
}

function inWords(seconds) {
  const [count, unit] = seconds < 100 ? [seconds, "second"] : seconds < 6000 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
  const whole = Math.ceil(count);
  return `${whole} ${unit}${whole === 1 ? "" : "s"}`;
}

function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
