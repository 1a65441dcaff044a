// What the key may do. A key that may only read is offered nothing else: the style sheet hides what writes unless the
// page knows that it may.

import { apiKey } from "./api.js";
import { updatePet } from "./operations.js";

const root = document.documentElement;

/**
 * Learns whether the key may write. No call says so; but a patch that names nothing changes nothing, and is refused with
 * 403 exactly if the key may only read. It costs one request each time the page is opened. In an empty store it is sent to an
 * animal that cannot be.
 */
export async function learnAccess(animalId = 0) {
  if (root.dataset.access) return;
  const key = apiKey.get();
  const refusal = await updatePet(animalId, {}).then(() => undefined, (error) => error);
  if (key !== apiKey.get()) return;
  if (refusal?.code === "forbidden") root.dataset.access = "read";
  else if (!refusal || refusal.status === 404) root.dataset.access = "write";
}

/** Another key may do other things. */
export const forgetAccess = () => delete root.dataset.access;
