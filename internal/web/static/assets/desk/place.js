// Where the person is in the list. The history of the browser keeps it, so that the list is the same after Back or a reload.
// The address names the first animal on the screen, so that a link leads to about the same place. At the beginning of the list
// it names none.

import { onLeave } from "../shared/address.js";
import { here } from "./address.js";

/** The place that the history keeps for this view: {loaded, animal, top, y}, or that of a link: {animal, top}, or undefined. */
export const keptPlace = () => history.state?.place ?? linkedPlace();

function linkedPlace() {
  const animal = location.hash.match(/^#no-(\d{1,16})$/)?.[1];
  return animal && { animal, top: 0 };
}

const topOf = (card) => card.offsetTop - scrollY; // even while the card is animated, unlike getBoundingClientRect

const pause = 300; // milliseconds after which the person has stopped scrolling

/** Keeps the place when the person scrolls or leaves the list. The function loaded returns how many animals it has, or 0. */
export function watchPlace(list, loaded) {
  const keep = () => {
    const { view, animal } = here();
    if (view || animal || !loaded() || !list.checkVisibility()) return; // an animal that was just opened has the address already
    const first = [...list.children].find((card) => topOf(card) + card.offsetHeight > 0);
    const place = first && { loaded: loaded(), animal: first.dataset.id, top: topOf(first), y: scrollY };
    history.replaceState({ ...history.state, place }, "", place && first !== list.firstElementChild ? `#no-${place.animal}` : location.pathname + location.search);
  };
  let timer;
  document.addEventListener("scroll", () => {
    clearTimeout(timer);
    timer = setTimeout(keep, pause);
  });
  onLeave(keep);
}

/** Scrolls so that the animal that was first on the screen, or the next one, is where it was, even if others were added above it. */
export function returnTo(list, { animal, top, y }) {
  window.scrollTo({ top: y, behavior: "instant" });
  const card = [...list.children].find(({ dataset }) => Number(dataset.id) <= Number(animal));
  if (card) window.scrollBy({ top: topOf(card) - top, behavior: "instant" });
}
