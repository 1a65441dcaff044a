// Keeps the view up to date by polling, so that people who work at the same time see each other's changes.

import { limits } from "../shared/api.js";

const shortestPause = 3000; // milliseconds between two polls when many requests are left
const day = 86_400_000;
const plans = { 60: 1_000, 300: 10_000, 1_000: 100_000 }; // the daily limit of each published plan, by its limit per minute

let last; // the limits in the latest answer
let answers = 0; // how many answers have arrived
let used = 0; // how many answers have arrived today
limits.addEventListener("limits", ({ detail }) => {
  const today = (time) => Math.floor(time / day);
  used = last && today(last.now) === today(detail.now) ? used + 1 : 1;
  last = detail;
  answers++;
});

/**
 * How long to pause between polls if a poll takes cost requests. Polls use at most half of the requests left in the minute
 * and in the day. The server reports only the window with fewer requests left. While that is the minute, an estimate stands
 * for the day: the daily limit of the plan minus the requests of this page. For an unknown plan, the daily limit is taken to
 * be 16 times the limit per minute, the lowest ratio of any plan.
 */
export function pauseFor(cost, { limit, remaining, reset, now }, used) {
  const within = (end, left) => Math.min((2 * cost * (end - now)) / Math.max(left, 1), end - now + 1000, day);
  if (reset - now > 60_000) return Math.max(shortestPause, within(reset, remaining));
  const midnight = Math.ceil(now / day) * day;
  const leftOfDay = Math.max(remaining, (plans[limit] ?? limit * 16) - used);
  return Math.max(shortestPause, within(reset, remaining), within(midnight, leftOfDay));
}

let refresh; // the task of each poll
let timer;
let due = 0; // when the next poll is due
let polling; // aborts the current poll

function schedule() {
  clearTimeout(timer);
  if (refresh && !polling && document.visibilityState === "visible") timer = setTimeout(poll, due - Date.now());
}

async function poll() {
  const before = answers;
  const mine = (polling = new AbortController());
  let wait;
  try {
    wait = await refresh(mine.signal);
  } finally {
    if (polling === mine) pause(answers - before, wait);
  }
}

function pause(cost, wait = 0) {
  polling = undefined;
  due = Date.now() + Math.max(wait * 1000, last ? pauseFor(Math.max(cost, 2), last, used) : shortestPause);
  schedule();
}

/** Calls the task again and again. The task gets a signal and handles its failures. It may return a pause in seconds. */
export function watch(task) {
  unwatch();
  refresh = task;
  pause(0);
}

/** Stops polling and aborts the current poll. */
export function unwatch() {
  refresh = undefined;
  clearTimeout(timer);
  polling?.abort();
  polling = undefined;
}

document.addEventListener("visibilitychange", schedule);
