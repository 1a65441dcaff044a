// "Try it" in the reference sends real requests, with the key of the desk.
import { apiKey, keyFault, newIdempotencyKey } from "../shared/api.js";
import { storeName } from "../shared/store.js";
import { borrowKey, onSignOut } from "../shared/tabs.js";
import { showSamples } from "./samples.js";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const environment = document.documentElement.dataset.environment ?? "production";
const doubtTime = 10_000; // how long a second press counts

/** Makes every form on the page send its request, and its samples follow what is typed. */
export function tryIt() {
  const keys = all(".try .key");
  const show = () => keys.forEach((input) => (input.value = apiKey.get()));
  show();
  borrowKey().then(show);
  onSignOut(show);
  addEventListener("pageshow", show);
  for (const line of all(".try-store")) nameStore(line);
  addEventListener("input", ({ target }) => {
    const form = target.closest(".try form");
    if (!form) return;
    calm(form);
    if (!target.matches(".key")) return showSamples(form.closest(".aside").querySelector(".samples"), sample(form));
    apiKey.set(target.value.trim());
    for (const other of keys) if (other !== target) other.value = target.value;
  });
  addEventListener("submit", (event) => {
    if (!event.target.matches(".try form")) return;
    event.preventDefault();
    if (changes(event.target) && !asked.has(event.target)) return ask(event.target);
    calm(event.target);
    send(event.target);
  });
  // A double click and a key that is held down are one press.
  addEventListener("click", (event) => event.detail > 1 && event.target.closest(".try .primary") && event.preventDefault());
  addEventListener("keydown", (event) => {
    const form = event.target.closest?.(".try form");
    if (form && event.key === "Escape") calm(form);
    if (form && event.key === "Enter" && event.repeat && !event.target.matches("textarea")) event.preventDefault();
  });
  addEventListener("focusout", ({ target, relatedTarget }) => {
    const form = target.closest?.(".try form");
    if (form && !form.contains(relatedTarget)) calm(form);
  });
}

// Says on which store a form acts. That is the store of this page, whatever address the samples have.
function nameStore(line) {
  const [name, host] = [storeName(), location.host].map((text, i) => {
    const element = document.createElement(i ? "code" : "strong");
    element.textContent = text;
    return element;
  });
  line.append("Acts on ", name, ` in ${environment}, at `, host);
}

const changes = (form) => form.dataset.method !== "GET";
const asked = new Map(); // the forms that wait for the second press, and when they stop waiting

// Asks for a second press before a request that changes the store.
function ask(form) {
  const { pathname } = request(form).url;
  const question = `Really send ${form.dataset.method} ${pathname} to ${storeName()} in ${environment}?`;
  const button = form.querySelector(".primary");
  button.textContent = question;
  button.classList.add("really");
  button.focus();
  document.getElementById("said").textContent = `${question} Press again.`;
  asked.set(form, setTimeout(() => calm(form), doubtTime));
}

// Takes the question back.
function calm(form) {
  if (!asked.has(form)) return;
  clearTimeout(asked.get(form));
  asked.delete(form);
  const button = form.querySelector(".primary");
  button.textContent = "Send";
  button.classList.remove("really");
}

// The content of the key field, even if the field is empty and the desk has a key.
const keyOf = (form) => form.querySelector(".key").value.trim();

async function send(form) {
  const button = form.querySelector(".primary");
  if (button.ariaDisabled === "true") return;
  const fault = keyOf(form) && keyFault(keyOf(form));
  if (fault) return show(form, "Not sent", false, "", fault, "");
  button.ariaDisabled = "true";
  const { url, options } = request(form);
  const began = performance.now();
  try {
    const answer = await fetch(url, options);
    const text = await answer.text();
    const took = Math.round(performance.now() - began);
    const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    show(form, `${answer.status} ${answer.statusText}`.trim(), answer.ok, `in ${took} ms`, pretty(text), headers);
  } catch {
    show(form, "No answer", false, "", "The server cannot be reached. Is it running, and are you online?", "");
  } finally {
    button.ariaDisabled = null;
  }
  form.querySelector(".sent").textContent = sentAs(url, options);
}

// The path with its parameters and the typed query. A parameter that is not typed has the value that absent returns.
function target(form, absent) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const { name, value, dataset } of all("[data-in]", form)) {
    if (dataset.in === "path") path = path.replace(`{${name}}`, () => encodeURIComponent(value || absent(dataset)));
    else if (dataset.in === "query" && value) query.set(name, value);
  }
  return `${path}${query.size ? `?${query}` : ""}`;
}

// The typed headers, without the Idempotency-Key.
const typedHeaders = (form) =>
  all('[data-in="header"]:not([name="Idempotency-Key"])', form).filter(({ value }) => value).map(({ name, value }) => [name, value]);

const idempotencyKey = (form) => form.querySelector('[name="Idempotency-Key"]')?.value;

// The request that the form describes. It gets a new Idempotency-Key unless the person typed one.
function request(form) {
  const headers = { Authorization: `Bearer ${keyOf(form)}`, ...Object.fromEntries(typedHeaders(form)) };
  const key = idempotencyKey(form);
  if (key !== undefined) headers["Idempotency-Key"] = key || newIdempotencyKey();
  const text = form.querySelector("textarea");
  if (text?.value) headers["Content-Type"] = text.dataset.type;
  const body = text ? text.value || undefined : form.querySelector("[type=file]")?.files[0]; // the browser sends the type of a file
  const url = new URL(`v1${target(form, () => "")}`, document.baseURI);
  return { url, options: { method: form.dataset.method, headers, body, cache: "no-store" } };
}

// What the samples send. An example takes the place of what must be given but is not typed yet.
function sample(form) {
  const { method, empty } = form.dataset;
  const url = base() + target(form, ({ example }) => example);
  const parts = { method, url, headers: typedHeaders(form), key: idempotencyKey(form), empty: empty !== undefined };
  const [text, file] = ["textarea", "[type=file]"].map((selector) => form.querySelector(selector));
  if (text?.value || text?.required) Object.assign(parts, { type: text.dataset.type, body: text.value ? oneLine(text.value) : text.dataset.example });
  const chosen = file?.files[0];
  if (file) Object.assign(parts, { type: chosen?.type || file.accept.split(",")[0], file: chosen?.name ?? "photo.jpg" });
  return parts;
}

// The address in the samples. If the server does not know its address, it is that of the page.
function base() {
  const { base, guess } = document.body.dataset;
  return guess ? base.replace(guess, new URL(".", document.baseURI).href.slice(0, -1)) : base;
}

function show(form, status, ok, took, body, headers) {
  const outcome = form.querySelector(".outcome");
  const badge = document.createElement("span");
  badge.className = ok ? "code-ok" : "code-no";
  badge.textContent = status;
  outcome.querySelector(".outcome-head").replaceChildren(badge, ` ${took}`);
  outcome.querySelector(".outcome-body").hidden = !body;
  outcome.querySelector(".outcome-body code").textContent = body;
  outcome.querySelector(".outcome-headers code").textContent = headers;
  outcome.hidden = false;
}

function sentAs(url, { method, headers }) {
  const key = headers["Idempotency-Key"];
  return `${method} ${url.pathname}${url.search}${key ? ` with Idempotency-Key ${key}` : ""}`;
}

// The tokens of a JSON text, or undefined if the text is not JSON. Numbers keep all their digits, because they may have more
// digits than a JavaScript number.
function tokens(text) {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g);
}

// Puts JSON on one line. Other text stays as it is.
const oneLine = (text) => tokens(text)?.map((token) => (token === "," || token === ":" ? `${token} ` : token)).join("") ?? text;

// Breaks JSON into lines. Other text stays as it is.
function pretty(text) {
  let out = "", indent = "";
  for (const token of tokens(text) ?? []) {
    if (token === "}" || token === "]") {
      indent = indent.slice(2);
      out = /[{[]$/.test(out.trimEnd()) ? out.trimEnd() : `${out}\n${indent}`;
    }
    out += token;
    if (token === "{" || token === "[") out += `\n${(indent += "  ")}`;
    if (token === ",") out += `\n${indent}`;
    if (token === ":") out += " ";
  }
  return out || text;
}
