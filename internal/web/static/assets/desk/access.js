// Until the page knows that the key may write, CSS hides what needs such a key.

import { apiKey } from "../shared/api.js";
import { updatePet } from "./operations.js";

const root = document.documentElement;

/**
 * Finds out whether the key may write, with an empty patch. It changes nothing, but the server refuses it with 403 if the
 * key is read-only. In an empty store, the patch is for animal 0, which cannot exist.
 */
export async function learnAccess(animalId = 0) {
  if (root.dataset.access) return;
  const key = apiKey.get();
  const refusal = await updatePet(animalId, {}).then(() => undefined, (error) => error);
  if (key !== apiKey.get()) return;
  if (refusal?.code === "forbidden") root.dataset.access = "read";
  else if (!refusal || refusal.status === 404) root.dataset.access = "write";
}

/** Forgets whether the key may write. Must be called when the key changes. */
export const forgetAccess = () => delete root.dataset.access;
