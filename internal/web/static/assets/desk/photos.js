// The photos of an animal: on its page, and one at a time in a large view.

import { Refusal, retry } from "../shared/api.js";
import { askToConfirm } from "../shared/dialogs.js";
import { explain, notice, say } from "../shared/notice.js";
import { photoCoverer, photoRemover, photoURL } from "./operations.js";
import { sendPhotos, uploadRows, watchUploads } from "./upload.js";

const byId = (id) => document.getElementById(id);
const section = byId("photos");
const viewer = byId("viewer");
const most = 8;

let animal; // the animal on the page
let photos = []; // its photos, the cover first
let viewed; // the number of the photo in the large view
let changed; // is called with the number of an animal and a function that changes its photos

/** Calls back with the number of an animal and a function from its photos to its photos after a change. */
export function watchPhotos(onChange, reload) {
  changed = onChange;
  watchUploads((petId, photo) => {
    changed(petId, (before) => [...before.filter(({ id }) => id !== photo.id), photo]);
    say("The photo was added.");
  }, reload);
}

/** Shows the photos of an animal, or none. */
export function showPhotos(next, list = []) {
  animal = next;
  photos = list;
  section.classList.toggle("none", photos.length === 0);
  section.classList.toggle("full", photos.length >= most);
  const wanted = photos.length > 1 ? photos : [];
  if (photos.length) fill(byId("cover"), photos[0], 0, photoURL(photos[0].url));
  else {
    byId("cover").removeAttribute("href");
    byId("cover").replaceChildren(new Image());
  }
  byId("cover").hidden = photos.length === 0;
  const strip = byId("strip");
  while (strip.children.length > wanted.length) strip.lastChild.remove();
  for (const [i, photo] of wanted.entries()) {
    if (!strip.children[i]) strip.append(byId("photo-item").content.cloneNode(true));
    fill(strip.children[i].firstElementChild, photo, i, photoURL(photo.thumbnailUrl));
  }
  showUploads();
  if (viewer.open) view(Math.max(0, photos.findIndex(({ id }) => id === viewed)));
}

const label = (i) => `Photo ${i + 1} of ${photos.length} of ${animal.name}`;

function fill(link, photo, i, address) {
  const image = link.firstElementChild;
  link.href = photoURL(photo.url);
  link.dataset.photo = photo.id;
  image.alt = label(i);
  if (image.src !== address) image.src = address;
}

function showUploads() {
  const rows = uploadRows(animal?.id);
  const list = byId("uploads");
  for (const row of [...list.children]) if (!rows.includes(row)) row.remove();
  for (const row of rows) if (!row.isConnected) list.append(row);
}

function view(i) {
  if (!photos[i]) return viewer.close();
  const { id, url, width, height } = photos[i];
  viewed = id;
  const image = Object.assign(byId("viewer-photo"), { alt: label(i), width, height });
  if (image.src !== photoURL(url)) image.src = photoURL(url);
  byId("viewer-place").textContent = `${i + 1} of ${photos.length}`;
  for (const id of ["viewer-previous", "viewer-next", "viewer-place"]) byId(id).hidden = photos.length < 2;
  byId("viewer-cover").hidden = i === 0;
  if (!viewer.open) viewer.showModal();
  else if (!document.activeElement.checkVisibility()) byId("viewer-close").focus();
}

function step(by) {
  const i = photos.findIndex(({ id }) => id === viewed);
  view((i + by + photos.length) % photos.length);
}

section.addEventListener("click", (event) => {
  const link = event.target.closest("[data-photo]");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  view(photos.findIndex(({ id }) => String(id) === link.dataset.photo));
});
byId("viewer-previous").addEventListener("click", () => step(-1));
byId("viewer-next").addEventListener("click", () => step(1));
byId("viewer-close").addEventListener("click", () => viewer.close());
viewer.addEventListener("click", ({ target }) => target === viewer && viewer.close()); // beside the photo
viewer.addEventListener("close", () => viewer.open || byId("viewer-photo").replaceWith(Object.assign(new Image(), { id: "viewer-photo" })));
viewer.addEventListener("keydown", ({ key }) => {
  if (key === "ArrowLeft" || key === "ArrowRight") step(key === "ArrowLeft" ? -1 : 1);
});

// Sends a change of a photo. The page shows it when the server has made it.
async function change(petId, send, after, said) {
  notice.clear();
  try {
    await retry(send, (refusal, seconds) => notice.countDown(refusal, seconds, new AbortController().signal));
    changed(petId, after);
    say(said);
  } catch (error) {
    viewer.close();
    explain(error, error instanceof Refusal ? undefined : () => change(petId, send, after, said), "This may or may not have been done. Trying again is safe.");
  }
}

byId("viewer-cover").addEventListener("click", () => {
  const [petId, id] = [animal.id, viewed];
  const send = photoCoverer(petId, id);
  const first = (list) => [...list.filter((photo) => photo.id === id), ...list.filter((photo) => photo.id !== id).sort((a, b) => a.id - b.id)];
  change(petId, () => send(), first, "This photo is the cover now.");
});

byId("viewer-delete").addEventListener("click", async () => {
  const [petId, id] = [animal.id, viewed];
  if (!(await askToConfirm("Delete this photo?", "This cannot be undone.", "Delete"))) return;
  const send = photoRemover(petId, id);
  const gone = (error) => (error.status === 404 ? undefined : Promise.reject(error));
  change(petId, () => send().catch(gone), (list) => list.filter((photo) => photo.id !== id), "The photo was deleted.");
});

const mayAdd = () => animal && ["write", "admin"].includes(document.documentElement.dataset.access) && !document.querySelector("dialog[open]");

function add(files) {
  sendPhotos(animal.id, files);
  showUploads();
}

for (const input of section.querySelectorAll("input")) {
  input.addEventListener("change", () => {
    add([...input.files]);
    input.value = ""; // the same file may be chosen again
  });
}

document.addEventListener("paste", (event) => {
  if (!mayAdd() || !event.clipboardData.files.length) return;
  event.preventDefault();
  add([...event.clipboardData.files]);
});

// A file may be dropped anywhere on the page of the animal. Elsewhere, the browser would leave the page to show the file.
for (const type of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(type, (event) => {
    if (!event.dataTransfer?.types.includes("Files") || !animal) return;
    event.preventDefault();
    section.classList.toggle("dropping", type === "dragover" && Boolean(mayAdd()));
    if (type === "drop" && mayAdd()) add([...event.dataTransfer.files]);
  });
}

// The focus stays near a row that disappears.
byId("uploads").addEventListener("gone", ({ target }) => target.contains(document.activeElement) && byId("photo-files").focus());
