// The words that the desk uses for what the API names in its own way.

const names = { available: "Available", pending: "Reserved", sold: "Adopted" };

/** A status as people in a shelter call it. The API and the addresses keep their own values. */
export const statusName = (status) => names[status] ?? status;

const count = (n) => ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"][n] ?? n.toLocaleString("en");

/** A number of things in words: "one hour", "three days", "30 days". */
export const inWords = (n, unit) => `${count(n)} ${unit}${n === 1 ? "" : "s"}`;

/** A length of time in words, in the largest unit that fits exactly. */
export function duration(seconds) {
  const [unit, length] = Object.entries({ week: 604_800, day: 86_400, hour: 3600, minute: 60, second: 1 }).find(([, length]) => seconds % length === 0);
  return inWords(seconds / length, unit);
}

export const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);
