import { draw } from "./portrait.js";

const template = document.getElementById("card").content.firstElementChild;

/** The word for a status, as people read it. */
export const word = (status) => status.charAt(0).toUpperCase() + status.slice(1);

/** An animal as a card. Names come from strangers: they are only ever text. */
export function card(animal) {
  const item = template.cloneNode(true);
  const name = item.querySelector(".name");
  name.textContent = animal.name;
  name.title = animal.name;
  item.querySelector(".meta").textContent = `Category\u00a0${animal.categoryId} · No.\u00a0${animal.id}`;
  item.querySelector(".status span").textContent = word(animal.status);
  item.querySelector(".status use").setAttribute("href", `#${animal.status}`);
  item.dataset.status = animal.status;
  draw(item.querySelector(".portrait"), animal);
  return item;
}
