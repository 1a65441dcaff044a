// What was found: the newest animals that match a query, as far as the page has read them.

import { listPets } from "./operations.js";

const largestPage = 100; // the most animals that the server returns at once

/**
 * Reads animals that match, newest first, until there are as many as wanted or no more, or until the animal with the number
 * until is reached. The function read reads one page. The result has the cursor of the animals that follow, if there are any.
 */
export async function readAnimals(query, wanted, signal, { read = listPets, until = 0 } = {}) {
  const found = { animals: [], next: undefined };
  do {
    const limit = Math.min(largestPage, wanted - found.animals.length);
    const page = await read({ ...query, cursor: found.next, limit }, signal);
    found.animals.push(...page.animals);
    found.next = page.next;
  } while (found.next && found.animals.length < wanted && !(found.animals.at(-1)?.id <= until));
  return found;
}

/**
 * What is known after the newest animals were read again: those, and the older ones as they were known. If so many animals
 * are new that some between them may be unknown, only the newest animals are known.
 */
export function refresh(known, fresh) {
  const last = fresh.animals.at(-1)?.id;
  const older = fresh.next && known.animals[0]?.id >= last ? known.animals.filter(({ id }) => id < last) : [];
  return older.length ? { animals: [...fresh.animals, ...older], next: known.next } : fresh;
}

/** What is known after one more page was read. The page is ignored if it does not follow what is known by now. */
export function extend(known, cursor, page) {
  return known.next === cursor ? { animals: [...known.animals, ...page.animals], next: page.next } : known;
}
