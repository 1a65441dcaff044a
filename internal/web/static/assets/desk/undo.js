// Undoes an action on an animal. The undo is a change of its own, and is not made if somebody has changed the animal since.

import { Refusal } from "../shared/api.js";
import { say, unsay } from "../shared/notice.js";
import { findPet, openOrder, orderPlacer, petUpdater } from "./operations.js";
import { statusName } from "./words.js";

const holdBounds = [60, 2_592_000]; // seconds that an order may hold an animal

/** The action that undoes another one. The state {animal, order} was before that action, and left is the status after it. */
export const undoing = ({ animal, order }, left) => {
  const { id, name, status } = animal;
  const [update, placeOrder] = [petUpdater(id), orderPlacer()];
  let state = ""; // "" until the page has looked, then the status to go on from
  let fields; // of the new order

  const changed = (now) => {
    const what = now ? `changed ${name} since: it is ${statusName(now.status).toLowerCase()} now` : `deleted ${name} since`;
    return new Refusal(409, "changed", `Somebody has ${what}.${state === left || !state ? " Nothing was undone." : ""}`);
  };

  async function look(signal) {
    const [now, held] = await Promise.all([findPet(id, signal), openOrder(id, signal)]);
    if (now?.status !== left || held) throw changed(now);
    state = left;
  }

  // A new order can only hold an available animal.
  async function goBack(signal) {
    const next = order ? "available" : status;
    if (state !== next) await update({ status: next }, signal);
    state = next;
    if (!order) return { animal: { ...animal, status } };
    const rest = Math.round((Date.parse(order.expiresAt) - Date.now()) / 1000);
    fields ??= { petId: id, reference: order.reference, holdSeconds: Math.min(Math.max(rest, holdBounds[0]), holdBounds[1]) };
    return { animal: { ...animal, status: "pending" }, order: await placeOrder(fields, signal) };
  }

  return (now) => ({
    after: { animal: now },
    said: `Undone: ${name} is ${statusName(status).toLowerCase()} again.`,
    async send(signal) {
      if (!state) await look(signal);
      try {
        return await goBack(signal);
      } catch (error) {
        throw [404, 409].includes(error.status) ? changed(await findPet(id, signal)) : error; // somebody was faster
      }
    },
  });
};

/** Shows for ten seconds what the page has done, with a button that undoes it. */
export function sayWithUndo(text, undo) {
  say(text, 10_000);
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Undo" });
  button.setAttribute("aria-describedby", "said");
  button.addEventListener("click", () => {
    unsay();
    undo();
  });
  document.getElementById("offer").replaceChildren(button);
}
