// The words that the desk uses for what the API names in its own way.

const names = { available: "Available", pending: "Reserved", sold: "Adopted" };

/** A status as people in a shelter call it. The API and the addresses keep their own values. */
export const statusName = (status) => names[status] ?? status;

const count = (number, unit) => `${number} ${unit}${number === 1 ? "" : "s"}`;

/** The age of an animal that was born in a year, a month or on a day: "2024", "2024-05" or "2024-05-17". */
export function age(bornOn, today = new Date()) {
  const [year, month, day] = bornOn.split("-").map(Number);
  if (!month) {
    const years = today.getFullYear() - year;
    return years < 0 ? "not born yet" : years === 0 ? "born this year" : `about ${count(years, "year")}`;
  }
  const months = 12 * (today.getFullYear() - year) + today.getMonth() + 1 - month - (day > today.getDate() ? 1 : 0);
  if (months >= 24) return count(Math.floor(months / 12), "year");
  if (months >= 4 || (months >= 1 && !day)) return count(months, "month");
  const days = day && Math.round((Date.UTC(today.getFullYear(), today.getMonth(), today.getDate()) - Date.UTC(year, month - 1, day)) / 86_400_000);
  if (months < 0 || days < 0) return "not born yet";
  if (days === 0) return "born today";
  return !day ? "born this month" : days < 14 ? count(days, "day") : count(Math.floor(days / 7), "week");
}

const spelled = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/** A length of time in words, in the largest unit that fits exactly: "one hour", "three days", "30 days". */
export function duration(seconds) {
  const [unit, length] = Object.entries({ week: 604_800, day: 86_400, hour: 3600, minute: 60, second: 1 }).find(([, length]) => seconds % length === 0);
  const number = seconds / length;
  return count(spelled[number] ?? number, unit).replace(/^one (.*)s$/, "one $1");
}

export const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);
