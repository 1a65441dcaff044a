// Sends photos, one after the other, and shows how far each of them is.

import { Refusal, Unreachable, apiURL, call, newIdempotencyKey, retry } from "../shared/api.js";
import { Notice, explain } from "../shared/notice.js";

const template = document.getElementById("upload-row").content.firstElementChild;
const longestSide = 1600; // pixels; the server keeps 1,280
const sendable = ["image/jpeg", "image/png", "image/webp"];
const stallTimeout = 30_000; // milliseconds without any progress

const uploads = new Set(); // the photos that are being sent or were refused, of all animals
let queue = Promise.resolve();
let added; // is called with the number of the animal and its new photo
let ended; // is called with the number of the animal when it is not known whether a photo was added

/** Calls back with each photo that was added, and after each upload that was cancelled. */
export const watchUploads = (onAdded, onCancelled) => ([added, ended] = [onAdded, onCancelled]);

/** Sends photos of an animal. */
export function sendPhotos(petId, files) {
  for (const file of files) {
    const row = template.cloneNode(true);
    const upload = { petId, file, row, key: newIdempotencyKey(), notice: new Notice(row.querySelector(".notice")) };
    row.querySelector(".file").textContent = file.name;
    row.querySelector("progress").ariaLabel = `Sending ${file.name}`;
    row.querySelector("button").addEventListener("click", () => cancel(upload));
    uploads.add(upload);
    start(upload);
  }
}

/** The rows of an animal's photos that are being sent or were refused. */
export const uploadRows = (petId) => [...uploads].filter((upload) => upload.petId === petId).map(({ row }) => row);

/** Drops all uploads, because another person may sign in next. */
export function dropUploads() {
  for (const upload of uploads) drop(upload);
}

function cancel(upload) {
  drop(upload);
  if (upload.sent) ended(upload.petId); // the server may have the photo already
}

function drop(upload) {
  upload.stop.abort();
  uploads.delete(upload);
  upload.row.dispatchEvent(new Event("gone", { bubbles: true }));
  upload.row.remove();
}

function start(upload) {
  upload.stop = new AbortController();
  upload.notice.clear();
  showProgress(upload.row, 0);
  queue = queue.then(() => send(upload)).catch(reportError);
}

async function send(upload) {
  const { petId, row, stop, notice } = upload;
  if (stop.signal.aborted) return;
  try {
    upload.body ??= await shrink(upload.file, row.querySelector("canvas"));
    upload.sent = true;
    const { body: photo } = await retry(() => post(upload), (refusal, seconds) => notice.countDown(refusal, seconds, stop.signal));
    drop(upload);
    added(petId, photo);
  } catch (error) {
    if (!stop.signal.aborted) refuse(upload, error);
  }
}

function refuse(upload, error) {
  const { row, notice } = upload;
  row.dataset.state = "refused";
  row.querySelector("button").textContent = "Remove";
  const again = () => start(upload);
  if (error instanceof Unreachable) notice.say("The store cannot be reached", "Trying again is safe: the photo is never added twice.", "Try again", again);
  else if (!(error instanceof Refusal)) throw error;
  else if (error.status === 401 || error.code === "forbidden") {
    drop(upload);
    explain(error);
  } else notice.say("This photo was not added", error.message, error.code !== "invalid_photo" && "Try again", again);
}

function showProgress(row, share) {
  row.dataset.state = share < 1 ? "sending" : "waiting";
  row.querySelector("button").textContent = "Cancel";
  row.querySelector("progress").value = share;
}

/** Makes a large photo smaller, and draws what it shows, upright. A file that the browser cannot read is left to the server. */
async function shrink(file, canvas) {
  const picture = await createImageBitmap(file).catch(() => undefined);
  if (!picture) return file;
  const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height));
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff"; // a JPEG is not transparent
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  const keeps = sendable.includes(file.type);
  if (keeps && scale === 1 && file.size < 1_000_000) return file;
  const smaller = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.88));
  return smaller && (!keeps || smaller.size < file.size) ? smaller : file;
}

const post = ({ petId, body, row, key, stop }) =>
  call(apiURL(`pets/${petId}/photos`), {
    method: "POST",
    headers: { "Content-Type": body.type || "image/jpeg", "Idempotency-Key": key },
    body,
    signal: stop.signal,
    timeout: 600_000,
    fetch: (url, options) => transfer(url, options, (share) => showProgress(row, share)),
  });

// Sends a request like fetch, which does not tell how much of a body was sent.
function transfer(url, { method, headers, body, signal }, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let timer;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => request.abort(), stallTimeout);
    };
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      wait();
      progress(loaded / total);
    });
    request.addEventListener("loadend", () => {
      clearTimeout(timer);
      if (!request.status) return reject(new TypeError("no answer"));
      const headers = ["Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"].map((name) => [name, request.getResponseHeader(name)]);
      resolve(new Response(request.responseText, { status: request.status, headers: headers.filter(([, value]) => value) }));
    });
    signal.addEventListener("abort", () => request.abort());
    wait();
    request.send(body);
  });
}
