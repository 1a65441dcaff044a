// What a shelter knows about an animal: as the page shows it, and as people type it.

import { age, capitalize } from "./words.js";

const byId = (id) => document.getElementById(id);
const date = (options) => new Intl.DateTimeFormat("en", { timeZone: "UTC", ...options });
const forms = [{ year: "numeric" }, { year: "numeric", month: "long" }, { year: "numeric", month: "long", day: "numeric" }].map(date);

// A year, a month or a day as people read it.
function readable(text) {
  const parts = text.split("-");
  const [year, month = 1, day = 1] = parts.map(Number);
  const time = new Date(Date.UTC(2000, month - 1, day));
  time.setUTCFullYear(year); // the constructor takes the years before 100 for others
  return forms[parts.length - 1].format(time);
}

/** When an animal was born: "born in 2021" or "born on March 14, 2021". */
export const born = (bornOn) => `born ${bornOn.length > 7 ? "on" : "in"} ${readable(bornOn)}`;

/** Shows what is known about an animal. */
export function showProfile({ breed, sex, bornOn, arrivedOn, description, tags = [], notes }) {
  const facts = {
    breed,
    sex: sex && capitalize(sex),
    age: bornOn && `${capitalize(age(bornOn))}, ${born(bornOn)}`.replace(/^Born .*, b/, "B"),
    arrived: arrivedOn && readable(arrivedOn),
    description,
    notes,
  };
  for (const [name, text] of Object.entries(facts)) {
    const place = byId(`about-${name}`);
    if (place.textContent !== (text ?? "")) place.textContent = text ?? ""; // marked text stays marked
    place.parentElement.hidden = !text;
  }
  byId("about-tags").replaceChildren(...tags.map((tag) => Object.assign(document.createElement("li"), { textContent: tag, dir: "auto" })));
  byId("about-tags").hidden = tags.length === 0;
}

// A tag that has a comma is quoted, because commas separate the tags.
const writeTag = (tag) => (tag.includes(",") ? `"${tag}"` : tag);
const readTags = (text) => [...text.matchAll(/\s*"([^"]*)"\s*(?=,|$)|([^,]+)/g)].map(([, quoted, plain]) => (quoted ?? plain).trim()).filter(Boolean);

/** A profile as people type it. */
export function profileText({ breed = "", sex = "", bornOn = "", arrivedOn = "", description = "", tags = [], notes = "" } = {}) {
  return { breed, sex, bornOn, arrivedOn, description, tags: tags.map(writeTag).join(", "), notes };
}

/** The changes from one typed profile to another, as updateProfile takes them. */
export function profileChanges(before, after) {
  const changed = {};
  for (const name of Object.keys(profileText())) {
    if (after[name] === before[name]) continue;
    const value = { bornOn: bornFrom, tags: readTags }[name]?.(after[name]) ?? after[name].replaceAll("\r\n", "\n");
    changed[name] = value.length ? value : null;
  }
  return changed;
}

/** When an animal was born, from a date or an age such as "3 years", "5 months" or "2 weeks". */
export function bornFrom(typed, today = new Date()) {
  const text = typed.trim();
  const [, number, unit] = text.match(/^(?:about |~ ?)?(\d{1,3}) ?(y|m|w)[a-z]*(?: old)?$/i) ?? [];
  if (!unit) return text;
  const kind = unit.toLowerCase();
  const [year, month, day] = [today.getFullYear(), today.getMonth(), today.getDate()];
  if (kind === "y") return String(year - number);
  const born = kind === "m" ? new Date(Date.UTC(year, month - number)) : new Date(Date.UTC(year, month, day - 7 * number));
  return born.toISOString().slice(0, kind === "m" ? 7 : 10);
}

// Explains below the field what the typed text means.
function explainAge() {
  const bornOn = bornFrom(byId("bornOn").value);
  const valid = /^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$/.test(bornOn);
  byId("bornOn-hint").textContent = valid ? `${capitalize(born(bornOn))} (${age(bornOn)})` : "A year, a month or a day, such as 2021-03, or an age: 3 years";
}
byId("bornOn").addEventListener("input", explainAge);

/** Fills the fields of the form. */
export function fillProfile(text) {
  for (const name of Object.keys(profileText())) byId("add-form").elements[name].value = text[name];
  explainAge();
}
