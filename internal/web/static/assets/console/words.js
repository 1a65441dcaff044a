// How the console puts a key into words.

import { limits } from "../shared/api.js";

// The clock of this device may be wrong, so the console tells the time by the server's.
let ahead = 0; // milliseconds
limits.addEventListener("limits", ({ detail }) => (ahead = detail.now - Date.now()));

export const now = () => Date.now() + ahead;

const week = 7 * 86_400_000;
const clock = new Intl.DateTimeFormat("en", { hour: "numeric", minute: "2-digit" });
const date = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short" });
const distance = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const inFull = (time) => date.format(new Date(time));

/** How far away a time is: "in 3 days", "2 hours ago". */
export function fromNow(time) {
  const minutes = Math.round((Date.parse(time) - now()) / 60_000);
  const units = [[90, 1, "minute"], [2880, 60, "hour"], [86_400, 1440, "day"], [1_051_920, 43_830, "month"], [Infinity, 525_960, "year"]];
  const [, length, unit] = units.find(([end]) => Math.abs(minutes) < end);
  return distance.format(Math.round(minutes / length), unit);
}

/** The state of a key: {kind, label}. The kind is active, ending, banned or ended. */
export function stateOf({ revokedAt, expiresAt, bannedUntil }) {
  const left = expiresAt && Date.parse(expiresAt) - now();
  if (revokedAt) return { kind: "ended", label: "Revoked" };
  if (left <= 0) return { kind: "ended", label: "Expired" };
  if (Date.parse(bannedUntil) > now()) return { kind: "banned", label: `Banned until ${clock.format(new Date(bannedUntil))}` };
  if (left) return { kind: left < week ? "ending" : "active", label: `Expires ${fromNow(expiresAt)}` };
  return { kind: "active", label: "Active" };
}

/** Writes a state into its label. */
export function showState(label, { kind, label: text }) {
  label.querySelector("span").textContent = text;
  label.querySelector("use").setAttribute("href", `#${kind}`);
  label.dataset.kind = kind;
}

/** When a key was last used. The store knows only the hour. */
export function lastUse({ lastUsedAt }) {
  if (!lastUsedAt) return "never";
  return now() - Date.parse(lastUsedAt) < 3_600_000 ? "within the last hour" : fromNow(lastUsedAt);
}

const digits = new Intl.NumberFormat("en");

export const number = (count) => digits.format(count);

export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

export const planName = (plan) => plan.charAt(0).toUpperCase() + plan.slice(1);

const accesses = { read: "Read", write: "Read and change", admin: "Administer" };

export const accessName = (access) => accesses[access] ?? access;

export function size(bytes) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const format = { style: "unit", unit: units[power], unitDisplay: power ? "short" : "long", maximumSignificantDigits: 3 };
  return new Intl.NumberFormat("en", format).format(bytes / 1000 ** power);
}

/** Shows pairs of a term and its description in a list. */
export function showFacts(list, facts) {
  list.replaceChildren(
    ...facts.map(([term, description, more]) => {
      const pair = document.createElement("div");
      pair.append(element("dt", term), element("dd", description));
      if (more) pair.lastChild.append(element("span", more));
      return pair;
    }),
  );
}

export function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
