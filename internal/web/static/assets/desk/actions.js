// The actions on an animal. Each action has the state after it, which the page shows immediately, and a function that sends
// the action to the server. The server does an action once, even if the page sends it twice. Some have an action that undoes
// them.

import { closeOrder, orderPlacer, petUpdater } from "./operations.js";
import { undoing } from "./undo.js";

const setStatus = (status, words) => (animal, order, update = petUpdater(animal.id)) => ({
  after: { animal: { ...animal, status }, order: undefined },
  said: `${animal.name} ${words}.`,
  undo: undoing({ animal, order }, status),
  send: async (signal) => ({ animal: await update({ status }, signal) }),
});

const endOrder = (how, status, words) => (animal, order) => ({
  ...setStatus(status, words)(animal, order),
  async send(signal) {
    await closeOrder(order.id, how, signal);
    return { animal: { ...animal, status } };
  },
});

const adopted = "is adopted";
const back = "is available again";

/** The actions that the animal's state allows, by the name of their button: {label, begin}. */
export function actionsFor(animal, order) {
  if (order) {
    return {
      adopt: { label: "Mark as adopted", begin: endOrder("complete", "sold", adopted) },
      "bring-back": { label: "Cancel the reservation", begin: endOrder("cancel", "available", back) },
    };
  }
  const adopt = { label: "Mark as adopted", begin: setStatus("sold", adopted) };
  switch (animal.status) {
    case "available":
      return { reserve: { label: "Reserve" }, adopt, delete: { label: "Delete" } };
    case "pending":
      return { adopt, "bring-back": { label: "Make available again", begin: setStatus("available", back) }, delete: { label: "Delete" } };
    default:
      return { "bring-back": { label: "Bring back", begin: setStatus("available", back) }, delete: { label: "Delete" } };
  }
}

/** The action that reserves an animal. The reference and the hold are optional. */
export const reservation = (fields, placeOrder = orderPlacer()) => (animal) => ({
  after: { animal: { ...animal, status: "pending" }, order: { reference: fields.reference } },
  said: `${animal.name} is reserved.`,
  send: async (signal) => ({
    animal: { ...animal, status: "pending" },
    order: await placeOrder({ petId: animal.id, ...fields }, signal),
  }),
});
