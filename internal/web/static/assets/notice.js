// Messages about what goes on: calm words, a button if there is something to do, a countdown if there is only time to pass.

import { Refusal, Unreachable } from "./api.js";

const pauses = {
  rate_limited: ["A short pause", "This key has used up its requests for now."],
  key_banned: ["This key is resting", "It kept asking after it was told to wait, and is banned for a while."],
  unavailable: ["One moment", "The store cannot do this right now. Nothing is lost."],
};

/** A place on the page for one message at a time. */
export class Notice {
  #place;

  constructor(place) {
    this.#place = place;
  }

  clear() {
    this.#place.replaceChildren();
  }

  isEmpty = () => !this.#place.hasChildNodes();

  /** Shows a message, and a button that does something about it. */
  say(title, text, label, action) {
    const children = [element("strong", title), element("p", text)];
    if (label) {
      const button = element("button", label);
      button.type = "button";
      button.addEventListener("click", action);
      children.push(button);
    }
    this.#place.replaceChildren(...children);
    return children[0]; // it is on the page for as long as the message is
  }

  /** Shows why there is a wait and counts it down; it is over when the promise is kept, or broken by the signal. */
  async count({ code, message }, seconds, signal) {
    const [title, text] = pauses[code] ?? ["One moment", message];
    const end = Date.now() + seconds * 1000;
    this.say(title, `${text} Trying again by itself in ${inWords(seconds)}.`);
    const clock = element("span", "");
    clock.className = "clock";
    clock.ariaHidden = "true"; // the sentence says it once; a screen reader need not hear every second
    this.#place.append(clock);
    for (let left = seconds; left > 0; left = Math.ceil((end - Date.now()) / 1000)) {
      clock.textContent = digits(left);
      await sleep(Math.min(1000, end - Date.now()), signal);
    }
    if (clock.isConnected) this.clear();
  }
}

/** The message of the page, whatever view is open. */
export const notice = new Notice(document.getElementById("notice"));

const toast = document.getElementById("said");
let fading;

/** A text without the characters that turn the words after it around. */
export const straight = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");

/** Says in passing what was done. */
export function say(text) {
  clearTimeout(fading);
  toast.textContent = straight(text);
  fading = setTimeout(() => toast.replaceChildren(), 8000);
}

/** Listens for keys that the server refused, wherever that happens; the callback is given the server's words. */
export const onRefusedKey = (callback) => document.addEventListener("refused-key", ({ detail }) => callback(detail));

/** Tells of what went wrong: in the server's own words where it has some. The button does it again. Returns what say returns. */
export function explain(error, again, lost = "Check the connection. Nothing is lost; this page waits.") {
  if (error instanceof Unreachable) {
    return notice.say("The store cannot be reached", lost, again && "Try again", again);
  } else if (!(error instanceof Refusal)) {
    throw error;
  } else if (error.status === 401) {
    document.dispatchEvent(new CustomEvent("refused-key", { detail: error.message }));
  } else if (error.code === "forbidden") {
    document.documentElement.dataset.access = "read";
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
