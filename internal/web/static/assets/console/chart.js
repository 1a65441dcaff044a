// Draws a chart of bars. A bar has two parts, which differ in their pattern, so that the chart can be read without colors.

import { number } from "./words.js";

const height = 220;
const top = 12; // room above the highest bar
const foot = 26; // room for the labels below the bars
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Replaces the content of an svg with a chart of these bars, each {label, short, passed, refused}. */
export function drawChart(svg, bars, width) {
  const steps = scale(Math.max(...bars.map(({ passed, refused }) => passed + refused)));
  const highest = steps.at(-1);
  const left = 12 + 8 * Math.max(...steps.map((step) => compact.format(step).length));
  const slot = (width - left) / bars.length;
  const y = (count) => top + (height - top - foot) * (1 - count / highest);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.replaceChildren(
    stripes(),
    ...steps.flatMap((step) => [
      shape("line", { class: step ? "grid" : "axis", x1: left, x2: width, y1: y(step), y2: y(step) }),
      text({ class: "tick", x: left - 8, y: y(step) + 4, "text-anchor": "end" }, compact.format(step)),
    ]),
    ...bars.map((bar, i) => column(bar, left + slot * i, slot, y)),
    ...labels(bars, left, slot, width),
  );
}

// Round steps from 0 to at least the highest count. Counts are whole, so a step is at least 1.
function scale(highest) {
  const rough = Math.max(highest / 4, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  return Array.from({ length: Math.ceil(Math.max(highest, 1) / step) + 1 }, (_, i) => i * step);
}

function column({ label, passed, refused }, x, slot, y) {
  const group = shape("g", {});
  const bottom = y(0);
  const width = Math.max(slot * 0.7, 2);
  // Even a single request among millions is visible.
  const tall = (count) => (count ? Math.max(bottom - y(count), 2) : 0);
  const bar = (name, at, size) => shape("rect", { class: name, x: x + (slot - width) / 2, y: at - size, width, height: size });
  group.append(text({}, `${label}: ${number(passed)} answered, ${number(refused)} refused`, "title"));
  group.append(shape("rect", { class: "hit", x, y: 0, width: slot, height: bottom }));
  if (passed) group.append(bar("passed", bottom, tall(passed)));
  if (refused) group.append(bar("refused", bottom - tall(passed), tall(refused)));
  return group;
}

// As many labels as fit. The last bar, which is the latest, always has one.
function labels(bars, left, slot, width) {
  const every = Math.ceil(64 / slot);
  return bars.flatMap(({ short }, i) => {
    if ((bars.length - 1 - i) % every) return [];
    const middle = left + slot * (i + 0.5);
    const room = 4 * short.length; // half of the label's width
    if (middle - room < left - 12) return [];
    return [text({ class: "tick", x: Math.min(middle, width - room), y: height - 7, "text-anchor": "middle" }, short)];
  });
}

function stripes() {
  const pattern = shape("pattern", { id: "stripes", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  pattern.append(shape("rect", { class: "stripe-ground", width: 6, height: 6 }), shape("rect", { class: "stripe", width: 3, height: 6 }));
  return pattern;
}

function text(attributes, content, name = "text") {
  const made = shape(name, attributes);
  made.textContent = content;
  return made;
}

function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}
