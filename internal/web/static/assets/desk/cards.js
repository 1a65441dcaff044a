import { here, link } from "./address.js";
import { categoryName } from "./categories.js";
import { photoURL } from "./operations.js";
import { draw } from "./portrait.js";
import { showRows } from "./rows.js";
import { age, statusName } from "./words.js";

const template = document.getElementById("card");

/** Writes a status into its label. */
export function showStatus(label, status) {
  label.querySelector("span").textContent = statusName(status);
  label.querySelector("use").setAttribute("href", `#${status}`);
  label.dataset.status = status;
}

/** The breed and the age of an animal, as far as they are known. */
export const kind = ({ profile: { breed, bornOn } = {} }) => [breed, bornOn && age(bornOn)].filter(Boolean).join(" · ");

/** Shows the cover photo before the portrait, which CSS then hides. If the photo cannot be loaded, the portrait is back. */
export function showPicture(portrait, { id, categoryId, profile }) {
  draw(portrait, id, categoryName(categoryId));
  const cover = profile?.photos[0]?.thumbnailUrl;
  const shown = portrait.parentElement.querySelector(".photo");
  if (shown?.dataset.cover === cover) return;
  shown?.remove();
  if (!cover) return;
  const photo = Object.assign(new Image(400, 300), { className: "photo", alt: "", loading: "lazy", src: photoURL(cover) });
  photo.dataset.cover = cover;
  photo.addEventListener("error", () => photo.remove());
  portrait.before(photo);
}

function fill(item, animal) {
  const shown = JSON.stringify([animal, categoryName(animal.categoryId), location.search]);
  if (item.dataset.shown === shown) return;
  const name = item.querySelector(".name a");
  name.textContent = name.title = animal.name;
  name.href = link({ ...here(), animal: animal.id });
  name.dataset.animal = animal.id;
  item.querySelector(".kind").textContent = kind(animal);
  item.querySelector(".meta").textContent = `${categoryName(animal.categoryId)} · No.\u00a0${animal.id}`;
  showStatus(item.querySelector(".status"), animal.status);
  showPicture(item.querySelector(".portrait"), animal);
  item.dataset.shown = shown;
}

/** Shows exactly these animals in a list. Anyone may have written the names, so the list shows them only as text. */
export const showCards = (list, animals) => showRows(list, template, animals, fill);
