// "Try it" in the reference sends real requests, with the key of the desk.
import { apiKey, keyFault, newIdempotencyKey } from "../shared/api.js";
import { borrowKey, onSignOut } from "../shared/tabs.js";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/** Makes every form on the page send its request. */
export function tryIt() {
  const keys = all(".try .key");
  const show = () => keys.forEach((input) => (input.value = apiKey.get()));
  show();
  borrowKey().then(show);
  onSignOut(show);
  addEventListener("pageshow", show);
  addEventListener("input", ({ target }) => {
    if (!target.matches(".try .key")) return;
    apiKey.set(target.value.trim());
    for (const other of keys) if (other !== target) other.value = target.value;
  });
  addEventListener("submit", (event) => {
    if (!event.target.matches(".try form")) return;
    event.preventDefault();
    send(event.target);
  });
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

// The request that the form describes. It gets a new Idempotency-Key unless the person typed one.
function request(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = { Authorization: `Bearer ${keyOf(form)}` };
  for (const { name, value, dataset } of all("[data-in]", form)) {
    if (dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (dataset.in === "header" && (value || name === "Idempotency-Key")) headers[name] = value || newIdempotencyKey();
    else if (dataset.in === "query" && value) query.set(name, value);
  }
  const text = form.querySelector("textarea");
  if (text) headers["Content-Type"] = text.dataset.type;
  const body = text?.value ?? form.querySelector("[type=file]")?.files[0]; // the browser sends the type of a file
  const url = new URL(`v1${path}${query.size ? `?${query}` : ""}`, document.baseURI);
  return { url, options: { method: form.dataset.method, headers, body, cache: "no-store" } };
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

// Breaks JSON into lines. Numbers keep all their digits, because they may have more digits than a JavaScript number.
function pretty(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let out = "", indent = "";
  for (const token of text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === "}" || token === "]") {
      indent = indent.slice(2);
      out = /[{[]$/.test(out.trimEnd()) ? out.trimEnd() : `${out}\n${indent}`;
    }
    out += token;
    if (token === "{" || token === "[") out += `\n${(indent += "  ")}`;
    if (token === ",") out += `\n${indent}`;
    if (token === ":") out += " ";
  }
  return out;
}
