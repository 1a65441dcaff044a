// What can be done with an animal, by its state. Each action says how things are once it is done, which is shown at once,
// and how it is sent to the server. Sent twice, it is done once.

import { closeOrder, oneOrder, updatePet } from "./operations.js";

const byHand = (status, words) => (animal) => ({
  after: { animal: { ...animal, status }, order: undefined },
  said: `${animal.name} ${words}.`,
  send: async (signal) => ({ animal: await updatePet(animal.id, { status }, signal) }),
});

const closing = (how, status, words) => (animal, order) => ({
  ...byHand(status, words)(animal),
  async send(signal) {
    await closeOrder(order.id, how, signal);
    return { animal: { ...animal, status } };
  },
});

const adopted = "is adopted";
const back = "is available again";

/** The actions that an animal's state allows, by the name of their button: {label, begin}. */
export function choices(animal, order) {
  if (order) {
    return {
      adopt: { label: "Mark as adopted", begin: closing("complete", "sold", adopted) },
      "bring-back": { label: "Cancel the reservation", begin: closing("cancel", "available", back) },
    };
  }
  const adopt = { label: "Mark as adopted", begin: byHand("sold", adopted) };
  switch (animal.status) {
    case "available":
      return { reserve: { label: "Reserve" }, adopt, delete: { label: "Delete" } };
    case "pending":
      return { adopt, "bring-back": { label: "Make available again", begin: byHand("available", back) }, delete: { label: "Delete" } };
    default:
      return { "bring-back": { label: "Bring back", begin: byHand("available", back) }, delete: { label: "Delete" } };
  }
}

/** A reservation, under a reference and for a time if they are given. */
export const reserving = (fields, placeOrder = oneOrder()) => (animal) => ({
  after: { animal: { ...animal, status: "pending" }, order: { reference: fields.reference } },
  said: `${animal.name} is reserved.`,
  send: async (signal) => ({
    animal: { ...animal, status: "pending" },
    order: await placeOrder({ petId: animal.id, ...fields }, signal),
  }),
});
