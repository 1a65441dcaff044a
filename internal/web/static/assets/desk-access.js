// Whether the key may write. The style sheet hides everything that writes until the page knows that it may.

import { apiKey } from "./shared-api.js";
import { updatePet } from "./desk-operations.js";

const root = document.documentElement;

/**
 * Finds out whether the key may write. No operation says so, but an empty patch changes nothing and is refused with 403 if
 * the key is read-only. This costs one request each time the page is opened. In an empty store the patch goes to animal 0,
 * which cannot exist.
 */
export async function learnAccess(animalId = 0) {
  if (root.dataset.access) return;
  const key = apiKey.get();
  const refusal = await updatePet(animalId, {}).then(() => undefined, (error) => error);
  if (key !== apiKey.get()) return;
  if (refusal?.code === "forbidden") root.dataset.access = "read";
  else if (!refusal || refusal.status === 404) root.dataset.access = "write";
}

/** Must be called when the key changes. */
export const forgetAccess = () => delete root.dataset.access;
