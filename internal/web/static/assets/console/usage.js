// How much the owner of a key has used the store, as a sentence, a chart and a table.

import { drawChart } from "./chart.js";
import { element, now, number, plural } from "./words.js";

const byId = (id) => document.getElementById(id);
const hourMs = 3_600_000;

const periods = {
  hours: {
    name: "Hour",
    words: "in the last 24 hours",
    starts: () => Array.from({ length: 24 }, (_, i) => new Date((Math.floor(now() / hourMs) - 23 + i) * hourMs)),
    short: new Intl.DateTimeFormat("en", { hour: "numeric" }),
    long: new Intl.DateTimeFormat("en", { weekday: "short", hour: "numeric", minute: "2-digit" }),
  },
  days: {
    name: "Day",
    words: "in the last 31 days",
    starts() {
      const today = new Date(now()).setHours(0, 0, 0, 0);
      return Array.from({ length: 31 }, (_, i) => new Date(new Date(today).setDate(new Date(today).getDate() - 30 + i)));
    },
    short: new Intl.DateTimeFormat("en", { day: "numeric", month: "short" }),
    long: new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "long" }),
  },
};

let usage; // the hours with requests, oldest first
let bars = []; // what the chart shows

const period = () => periods[document.querySelector("[name=period]:checked").value];

/** Counts what was used in each hour or day of a period: {label, short, passed, refused}. */
function count({ starts, short, long }) {
  const counted = starts().map((start) => ({ start, label: long.format(start), short: short.format(start), passed: 0, refused: 0 }));
  for (const { hour, passed, refused } of usage) {
    const bar = counted.findLast(({ start }) => start <= Date.parse(hour));
    if (!bar) continue;
    bar.passed += passed;
    bar.refused += refused;
  }
  return counted;
}

/** Shows the usage of a key, or nothing if it is not known. */
export function showUsage(next) {
  usage = next;
  byId("usage").classList.toggle("blank", !usage);
  if (usage) show();
}

function show() {
  const { name, words } = period();
  bars = count(period());
  const total = (what) => bars.reduce((sum, bar) => sum + bar[what], 0);
  const [passed, refused] = [total("passed"), total("refused")];
  byId("usage-sum").textContent = summary(passed, refused, words);
  byId("figure").hidden = byId("usage-details").hidden = passed + refused === 0;
  byId("period-name").textContent = name;
  byId("usage-rows").replaceChildren(...bars.toReversed().map(row));
  draw();
}

function summary(passed, refused, words) {
  if (passed + refused === 0) return `No requests ${words}.`;
  const sum = `${plural(passed + refused, "request")} ${words}`;
  return refused ? `${sum}, ${number(refused)} of them refused by a limit.` : `${sum}, none of them refused.`;
}

function row({ label, passed, refused }) {
  const made = document.createElement("tr");
  const head = element("th", label);
  head.scope = "row";
  made.append(head, element("td", number(passed)), element("td", number(refused)));
  return made;
}

const draw = () => byId("figure").clientWidth && drawChart(byId("chart"), bars, byId("figure").clientWidth);

byId("usage").addEventListener("change", show);
new ResizeObserver(draw).observe(byId("figure"));
