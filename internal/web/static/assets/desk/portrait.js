// Draws a portrait of an animal. The name of its category determines the species, and its number the coat and markings.

const fur = ["#d9924f", "#8d5f41", "#8f939b", "#55504d", "#e6cb9d", "#f0e8da", "#b98552", "#6e5a50"];
const feathers = ["#6fae6a", "#5d9bc9", "#e3bd4c", "#9aa0a8", "#d9795d", "#7fb7a8"];
const scales = ["#7d9a5c", "#94885a", "#6d8f78", "#a07f55"];
const ink = "#2c2622";
const pale = "#fbf3e6";
const rose = "#e8a79c";

// The words that name a species, in the singular. Plurals that are not regular stand beside them.
const words = {
  dog: "dog doggy puppy pup hound canine",
  cat: "cat kitten kitty feline",
  rabbit: "rabbit bunny hare",
  rodent: "rodent hamster guinea cavy cavies gerbil mouse mice rat chinchilla degu",
  bird: "bird parrot budgie budgerigar parakeet cockatiel cockatoo canary finch lovebird pigeon dove chicken hen duck goose geese poultry",
  tortoise: "tortoise turtle terrapin",
};
const kinds = { dog, cat, rabbit, rodent, bird, tortoise, paw };
const species = new Map(Object.entries(words).flatMap(([kind, list]) => list.split(" ").map((word) => [word, kind])));

/** The species that the name of a category speaks of, such as "cat" for "Cats and kittens". The first one counts. */
export function speciesOf(name) {
  const found = name.toLowerCase().match(/\p{L}+/gu)?.flatMap((word) => [word, word.replace(/s$/, ""), word.replace(/es$/, ""), word.replace(/ies$/, "y")]);
  return species.get(found?.find((word) => species.has(word))) ?? "paw";
}

/** Replaces the content of an svg of 160 by 120 with a portrait of the animal with that number. */
export function draw(svg, id, categoryName) {
  const kind = speciesOf(categoryName);
  if (svg.dataset.sitter === `${kind} ${id}`) return;
  svg.dataset.sitter = `${kind} ${id}`;
  const dice = shuffle(Number(id));
  svg.setAttribute("class", `portrait scene-${Number(id) % 6}`);
  svg.replaceChildren(
    shape("circle", { class: "sun", cx: 28 + 104 * dice(2), cy: 30, r: 12 + dice(8) }),
    shape("ellipse", { class: "hill", cx: 20 + dice(120), cy: 230, rx: 260, ry: 126 + dice(22) }),
    ...kinds[kind](dice),
  );
}

// The same number always gives the same portrait.
function shuffle(seed) {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return (sides) => {
    state = Math.imul(state ^ (state >>> 16), 0x45d9f3b) >>> 0;
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0;
    state = (state ^ (state >>> 14)) + 0x6d2b79f5 >>> 0;
    return state % sides;
  };
}

function dog(dice) {
  const coat = pick(fur, dice);
  const ear = shade(coat);
  const pointed = dice(3) === 0;
  return [
    body(coat),
    ...mirrored(pointed ? "M54 62 50 26q14 4 24 18z" : "M58 44Q40 34 33 54q-6 20 1 34 16 3 21-22z", ear),
    oval(80, 74, 33, 35, coat),
    ...marking(dice, coat),
    oval(80, 90, 18, 15, lighter(coat)),
    ...eyes(66, 94, 69, 4.2),
    oval(80, 83, 6.5, 4.6, ink),
    line("M80 87v5m0 0q-5 6-11 2m11-2q5 6 11 2"),
    ...(dice(2) ? [shape("path", { d: "M75.5 97h9v5a4.5 4.5 0 0 1-9 0z", fill: rose })] : []),
  ];
}

function cat(dice) {
  const coat = pick(fur, dice);
  return [
    body(coat),
    ...mirrored("M46 66 45 30q18 4 30 18z", coat),
    ...mirrored("M51 54 51 39q8 3 14 9z", rose),
    oval(80, 76, 36, 31, coat),
    ...(dice(2) ? [line("M80 47v12M70 49l2 10M90 49l-2 10", shade(coat), 4)] : marking(dice, coat)),
    oval(80, 89, 15, 11, lighter(coat)),
    ...eyes(64, 96, 72, 4.4),
    shape("path", { d: "M76 82h8l-4 5z", fill: rose }),
    line("M80 87v2m0 0q-4 5-9 2m9-2q4 5 9 2"),
    line("M52 84l-16-3m16 8-16 2M108 84l16-3m-16 8 16 2", "currentcolor", 1.2),
  ];
}

function rabbit(dice) {
  const coat = pick(fur, dice);
  const lop = dice(3) === 0;
  return [
    body(coat),
    ...mirrored(lop ? "M66 54Q44 44 40 70q-2 24 8 30 10-6 12-26z" : "M63 62Q48 30 56 12q10-8 16 12 4 18 3 34z", shade(coat)),
    ...(lop ? [] : mirrored("M65 54Q56 32 60 20q5-4 8 10 2 12 2 24z", rose)),
    oval(80, 80, 30, 29, coat),
    ...marking(dice, coat),
    oval(80, 93, 15, 11, lighter(coat)),
    ...eyes(65, 95, 75, 4.4),
    shape("path", { d: "M76.5 85h7L80 89z", fill: rose }),
    line("M80 89v3m0 0q-4 4-8 1m8-1q4 4 8 1"),
    shape("path", { d: "M77 95h6v5q-3 2-6 0z", fill: "#fff" }),
  ];
}

function rodent(dice) {
  const coat = pick(fur, dice);
  return [
    body(coat),
    oval(50, 52, 12, 12, shade(coat)), oval(110, 52, 12, 12, shade(coat)),
    oval(50, 53, 7, 7, rose), oval(110, 53, 7, 7, rose),
    oval(80, 80, 40, 34, coat),
    ...marking(dice, coat),
    oval(60, 94, 16, 13, lighter(coat)), oval(100, 94, 16, 13, lighter(coat)), oval(80, 93, 13, 11, lighter(coat)),
    ...eyes(62, 98, 72, 4.6),
    oval(80, 85, 4.5, 3.4, ink),
    line("M80 88v4m0 0q-4 4-8 1m8-1q4 4 8 1"),
  ];
}

function bird(dice) {
  const coat = pick(feathers, dice);
  const crest = dice(2) ? "M80 44q-12-10-8-24 6 4 8 12 2-12 12-16 0 18-6 28z" : "M74 44q-2-10 6-14 8 4 6 14z";
  return [
    shape("path", { d: crest, fill: shade(coat) }),
    oval(80, 80, 32, 38, coat),
    oval(80, 98, 20, 22, lighter(coat)),
    ...mirrored("M52 72q-16 14-8 38 14-2 14-22z", shade(coat)),
    ...(dice(2) ? [oval(62, 76, 6, 5, rose), oval(98, 76, 6, 5, rose)] : []),
    ...eyes(67, 93, 65, 4.4),
    shape("path", { d: "M71 72q9-8 18 0-3 11-9 13-6-2-9-13z", fill: "#e8a33d" }),
    line("M73 75q7 3 14 0", "#a86a17", 1.4),
  ];
}

function tortoise(dice) {
  const coat = pick(scales, dice);
  const shell = shade(pick(fur.slice(0, 2).concat(scales), dice));
  return [
    oval(44, 104, 12, 9, coat), oval(116, 104, 12, 9, coat),
    shape("path", { d: "M28 100q4-58 52-58t52 58q-52 14-104 0z", fill: shell }),
    line("M62 47 54 70l16 16h20l16-16-8-23M54 70l-22 8m38 8-6 16m26-16 6 16m10-32 22 8", lighter(shell), 2.5),
    oval(80, 88, 20, 19, coat),
    ...eyes(72, 88, 84, 3.6),
    line("M72 95q8 6 16 0"),
  ];
}

// For a category that names no species above.
function paw(dice) {
  const coat = pick(fur, dice);
  return [
    shape("path", { d: "M80 66q17 0 27 19 8 17-7 20-11 2-20-3-9 5-20 3-15-3-7-20 10-19 27-19z", fill: coat }),
    oval(46, 68, 9, 13, coat), oval(114, 68, 9, 13, coat), oval(66, 46, 10, 14, coat), oval(94, 46, 10, 14, coat),
  ];
}

function marking(dice, coat) {
  switch (dice(4)) {
    case 0:
      return [shape("path", { d: "M75 45q5-3 10 0l3 30q-8 8-16 0z", fill: lighter(coat) })];
    case 1:
      return [oval(94, 70, 13, 15, shade(coat))];
    case 2:
      return [oval(66, 70, 13, 14, lighter(coat))];
  }
  return [];
}

const eyes = (left, right, y, r) =>
  [left, right].flatMap((x) => [oval(x, y, r, r, ink), oval(x + r / 3, y - r / 3, r / 3.2, r / 3.2, "#fff")]);

// Shoulders that continue below the picture, whatever its height.
const body = (coat) => shape("path", { d: "M42 400V124q2-30 38-30t38 30v276z", fill: shade(coat) });

const pick = (colors, dice) => colors[dice(colors.length)];
const oval = (cx, cy, rx, ry, fill) => shape("ellipse", { cx, cy, rx, ry, fill });
const line = (d, stroke = ink, width = 1.8) =>
  shape("path", { d, stroke, fill: "none", "stroke-width": width, "stroke-linecap": "round", "stroke-linejoin": "round" });

// A shape on the left and its mirror image on the right.
const mirrored = (d, fill) => [
  shape("path", { d, fill, "stroke-linejoin": "round" }),
  shape("path", { d, fill, "stroke-linejoin": "round", transform: "matrix(-1 0 0 1 160 0)" }),
];

const lighter = (color) => mix(color, pale, 0.62);
const shade = (color) => mix(color, ink, 0.24);

function mix(one, other, share) {
  const channel = (color, at) => parseInt(color.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(channel(one, at) * (1 - share) + channel(other, at) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}
