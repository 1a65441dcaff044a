// Animals as CSV, with the columns that petstore import reads. Notes for staff stay out: files are passed on.

import { categoryText } from "./categories.js";

const columns = {
  id: ({ id }) => id,
  name: ({ name }) => safe(name),
  categoryId: ({ categoryId }) => categoryId,
  category: ({ categoryId }) => safe(categoryText(categoryId)),
  status: ({ status }) => status,
  breed: ({ profile }) => safe(profile?.breed),
  sex: ({ profile }) => profile?.sex,
  bornOn: ({ profile }) => profile?.bornOn,
  arrivedOn: ({ profile }) => profile?.arrivedOn,
  description: ({ profile }) => safe(profile?.description),
  tags: ({ profile }) => safe(profile?.tags?.map(tag).join(", ")),
};

// A spreadsheet takes text for a formula if it begins with one of these. An apostrophe before it makes it text again.
const safe = (text = "") => (/^[\s\0]*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text);

const tag = (text) => (/[",]/.test(text) ? quote(text) : text);
const quote = (text) => `"${text.replaceAll('"', '""')}"`;
const cell = (value = "") => (/[",;\r\n]|^\s|\s$/.test(value) ? quote(String(value)) : value);

/** The rows of a file, the names of the columns first. It begins with a mark by which spreadsheets recognize UTF-8. */
export function toCSV(animals) {
  const rows = [Object.keys(columns), ...animals.map((animal) => Object.values(columns).map((read) => read(animal)))];
  return `\ufeff${rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("")}`;
}
