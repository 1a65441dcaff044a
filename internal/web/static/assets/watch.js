// Keeps what is shown up to date, so that people at work at the same time see each other's changes.

import { limits } from "./api.js";

const shortest = 3000; // milliseconds between two looks when plenty is left
const day = 86_400_000;
const plans = { 60: 1_000, 300: 10_000, 1_000: 100_000 }; // requests per day of the published plans, by requests per minute

let last; // what the latest answer said of the limits
let answers = 0; // how many answers came
let used = 0; // how many of them today
limits.addEventListener("limits", ({ detail }) => {
  const today = (time) => Math.floor(time / day);
  used = last && today(last.now) === today(detail.now) ? used + 1 : 1;
  last = detail;
  answers++;
});

/**
 * How long to pause so that looks of that many requests take at most half of what is left, of the day and of the minute.
 * The server tells of one window, the one with less left. While that is the minute, the day is taken to have what the
 * published plan gives less what this page has used; with limits of no published plan, the smallest share that any of
 * them gives.
 */
export function pauseFor(cost, { limit, remaining, reset, now }, used) {
  const within = (end, left) => Math.min((2 * cost * (end - now)) / Math.max(left, 1), end - now + 1000, day);
  if (reset - now > 60_000) return Math.max(shortest, within(reset, remaining));
  const midnight = Math.ceil(now / day) * day;
  const leftOfDay = Math.max(remaining, (plans[limit] ?? limit * 16) - used);
  return Math.max(shortest, within(reset, remaining), within(midnight, leftOfDay));
}

let look; // what to do at each look
let timer;
let due = 0; // when the next look is
let looking; // aborts the look that goes on

function schedule() {
  clearTimeout(timer);
  if (look && !looking && document.visibilityState === "visible") timer = setTimeout(once, due - Date.now());
}

async function once() {
  const before = answers;
  const mine = (looking = new AbortController());
  let wait;
  try {
    wait = await look(mine.signal);
  } finally {
    if (looking === mine) rest(answers - before, wait);
  }
}

function rest(cost, wait = 0) {
  looking = undefined;
  due = Date.now() + Math.max(wait * 1000, last ? pauseFor(Math.max(cost, 2), last, used) : shortest);
  schedule();
}

/** Looks again and again, with pauses. The task is given a signal, handles its own failures, and says how many seconds to wait if it was told so. */
export function watch(task) {
  unwatch();
  look = task;
  rest(0);
}

/** Looks no more, and forgets the look that goes on. */
export function unwatch() {
  look = undefined;
  clearTimeout(timer);
  looking?.abort();
  looking = undefined;
}

document.addEventListener("visibilitychange", schedule);
