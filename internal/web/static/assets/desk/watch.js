// Keeps the view up to date, so that people who work at the same time see each other's changes. The stream of events tells
// when to look. Without a stream, the page polls.

import { limits } from "../shared/api.js";
import { isLive, onEvent, onLive } from "./events.js";

const shortestPause = 3000; // milliseconds between two loads when many requests are left
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
 * How long to pause between loads if a load takes cost requests. Loads use at most half of the requests left in the minute
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

let refresh; // the task that loads the view again
let concerns = () => true; // whether an event may change what the view shows
let stale = false; // whether something may have changed since the latest load began
let timer;
let due = 0; // when the next load is allowed
let loading; // aborts the current load

function schedule() {
  clearTimeout(timer);
  const wanted = stale || !isLive();
  if (refresh && wanted && !loading && document.visibilityState === "visible") timer = setTimeout(load, due - Date.now());
}

async function load() {
  const before = answers;
  const mine = (loading = new AbortController());
  stale = false;
  let wait;
  try {
    wait = await refresh(mine.signal);
    if (wait !== undefined) stale = true;
  } finally {
    if (loading === mine) pause(answers - before, wait);
  }
}

function pause(cost, wait = 0) {
  loading = undefined;
  due = Date.now() + Math.max(wait * 1000, last ? pauseFor(Math.max(cost, 2), last, used) : shortestPause);
  schedule();
}

/** Notes which events concern the view that is about to load. */
export function expect(filter = () => true) {
  concerns = filter;
  stale = false;
}

/**
 * Calls the task whenever something may have changed. The task gets a signal and handles its failures. It returns undefined,
 * or after a failure the seconds to wait at least.
 */
export function watch(task) {
  unwatch();
  refresh = task;
  pause(0);
}

/** Stops calling the task and aborts the current load. */
export function unwatch() {
  refresh = undefined;
  clearTimeout(timer);
  loading?.abort();
  loading = undefined;
}

/** Loads the view again as soon as the rate limit allows it. */
export function look() {
  stale = true;
  schedule();
}

onEvent((event) => concerns(event) && look());
onLive((gap) => (gap ? look() : schedule()));
document.addEventListener("visibilitychange", schedule);
