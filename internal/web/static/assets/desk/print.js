// Animals on paper: as a list, or as cards for their kennels.

import { storeName } from "../shared/store.js";
import { kind, showPicture } from "./cards.js";
import { categoryName } from "./categories.js";
import { age, statusName } from "./words.js";

const paper = document.getElementById("paper");
const kennelCard = document.getElementById("kennel-card").content.firstElementChild;

const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "assets/desk/print.css", media: "print" });
const styled = new Promise((resolve) => {
  style.onload = style.onerror = resolve;
  document.head.append(style);
});

const columns = {
  "No.": ({ id }) => id,
  Name: ({ name }) => name,
  Category: ({ categoryId }) => categoryName(categoryId),
  Breed: ({ profile }) => profile?.breed,
  Age: ({ profile }) => profile?.bornOn && age(profile.bornOn),
  Status: ({ status }) => statusName(status),
};

/** Prints animals. The shape is "list" or "cards". The promise resolves when the browser's dialog for printing is there. */
export async function printAnimals(shape, animals, title, remark) {
  const lists = { list: [make("h1", title), make("p", remark), table(animals)], cards: [cards(animals)] };
  paper.className = `paper as-${shape}`;
  paper.replaceChildren(...lists[shape]);
  await Promise.allSettled([styled, ...[...paper.querySelectorAll("img")].map((photo) => photo.decode())]);
  window.print();
}

window.addEventListener("afterprint", () => paper.replaceChildren());

function table(animals) {
  const made = document.createElement("table");
  const row = (cells, name) => {
    const line = document.createElement("tr");
    line.append(...cells.map((cell = "") => make(name, cell)));
    return line;
  };
  made.createTHead().append(row(Object.keys(columns), "th"));
  made.createTBody().append(...animals.map((animal) => row(Object.values(columns).map((read) => read(animal)), "td")));
  return made;
}

function cards(animals) {
  const made = document.createElement("ul");
  made.append(...animals.map((animal) => {
    const item = kennelCard.cloneNode(true);
    const write = (selector, text) => (item.querySelector(selector).textContent = text);
    write("h1", animal.name);
    write(".kind", kind(animal) || categoryName(animal.categoryId));
    write(".number", `No.\u00a0${animal.id}`);
    write(".store", storeName());
    showPicture(item.querySelector(".portrait"), animal);
    for (const photo of item.querySelectorAll("img")) photo.loading = "eager";
    return item;
  }));
  return made;
}

const make = (name, text) => Object.assign(document.createElement(name), { textContent: text, dir: "auto" });
