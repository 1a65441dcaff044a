// Rewrites the samples of an operation when a person types into its form. The result is what samples.go writes for the same
// values.

const quote = {
  shell: (text) => `'${text.replaceAll("'", "'\\''")}'`,
  go: (text) => (/[`\\\r]/.test(text) || !text.includes('"') ? quote.js(text) : `\`${text}\``),
  js: (text) => JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`),
  python: (text) => (/\p{Cc}/u.test(text) ? quote.js(text) : `'${text.replace(/[\\']/g, "\\$&")}'`),
};

const fatal = "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}";

// Each function returns the parts of a sample. Parts that are not strings are left out. The key is an Idempotency-Key: empty
// if the sample makes a new one, undefined if the operation has none.
const languages = {
  curl({ method, url, key, headers, type, body, file }) {
    const header = (name, value) => `-H ${quote.shell(`${name}: ${value}`)}`;
    const parts = [
      `curl${method === "GET" ? "" : ` -X ${method}`} ${quote.shell(url)}`,
      '-H "Authorization: Bearer $PETSTORE_API_KEY"',
      key === "" && '-H "Idempotency-Key: $(uuidgen)"',
      key && header("Idempotency-Key", key),
      ...headers.map(([name, value]) => header(name, value)),
      type && header("Content-Type", type),
      body !== undefined && `-d ${quote.shell(body)}`,
      file && `--data-binary ${quote.shell(`@${file}`)}`,
    ];
    return [parts.filter(Boolean).join(" \\\n  ")];
  },
  go({ method, url, key, headers, type, body, file }) {
    const set = (name, value) => `\treq.Header.Set(${quote.go(name)}, ${value})`;
    return [
      "package main\n\nimport (",
      key === "" && '\t"crypto/rand"',
      '\t"fmt"\n\t"io"\n\t"log"\n\t"net/http"\n\t"os"',
      body !== undefined && '\t"strings"',
      ")\n\nfunc main() {",
      body !== undefined && `\tbody := strings.NewReader(${quote.go(body)})`,
      file && `\tbody, err := os.Open(${quote.go(file)})\n${fatal}`,
      `\treq, err := http.NewRequest(${quote.go(method)}, ${quote.go(url)}, ${type ? "body" : "nil"})\n${fatal}`,
      set("Authorization", '"Bearer "+os.Getenv("PETSTORE_API_KEY")'),
      key !== undefined && set("Idempotency-Key", key ? quote.go(key) : "rand.Text()"),
      ...headers.map(([name, value]) => set(name, quote.go(value))),
      type && set("Content-Type", quote.go(type)),
      `\n\tresp, err := http.DefaultClient.Do(req)\n${fatal}\n\tdefer resp.Body.Close()`,
      `\tanswer, err := io.ReadAll(resp.Body)\n${fatal}\n\tfmt.Println(resp.Status, string(answer))\n}`,
    ];
  },
  js({ method, url, key, headers, type, body, file, empty }) {
    return [
      file && 'import { readFile } from "node:fs/promises";\n',
      `const answer = await fetch(${quote.js(url)}, {`,
      method !== "GET" && `  method: ${quote.js(method)},`,
      '  headers: {\n    "Authorization": `Bearer ${process.env.PETSTORE_API_KEY}`,',
      key !== undefined && `    "Idempotency-Key": ${key ? quote.js(key) : "crypto.randomUUID()"},`,
      ...headers.map(([name, value]) => `    ${quote.js(name)}: ${quote.js(value)},`),
      type && `    "Content-Type": ${quote.js(type)},`,
      "  },",
      body !== undefined && `  body: ${isExact(body) ? `JSON.stringify(${body})` : quote.js(body)},`,
      file && `  body: await readFile(${quote.js(file)}),`,
      `});\nconsole.log(answer.status${empty ? "" : ", await answer.json()"});`,
    ];
  },
  py({ method, url, key, headers, type, body, file }) {
    return [
      "import os\nimport urllib.request",
      key === "" && "import uuid",
      `\nrequest = urllib.request.Request(\n    ${quote.js(url)},`,
      method !== "GET" && `    method=${quote.js(method)},`,
      "    headers={\n        \"Authorization\": f\"Bearer {os.environ['PETSTORE_API_KEY']}\",",
      key !== undefined && `        "Idempotency-Key": ${key ? quote.js(key) : "str(uuid.uuid4())"},`,
      ...headers.map(([name, value]) => `        ${quote.js(name)}: ${quote.js(value)},`),
      type && `        "Content-Type": ${quote.js(type)},`,
      "    },",
      body !== undefined && `    data=${quote.python(body)}.encode(),`,
      file && `    data=open(${quote.js(file)}, "rb").read(),`,
      ")\nwith urllib.request.urlopen(request) as answer:\n    print(answer.status, answer.read().decode())",
    ];
  },
};

// Whether a JavaScript program can have the body as a value and not only as a string. A long number would lose digits.
function isExact(body) {
  try {
    JSON.parse(body);
  } catch {
    return false;
  }
  return !/\d{16}|__proto__/.test(body);
}

/** Shows the samples of an operation for a request. */
export function showSamples(samples, request) {
  for (const [language, write] of Object.entries(languages)) {
    const code = write(request).filter((part) => typeof part === "string" && part).join("\n");
    samples.querySelector(`.${language} code`).replaceChildren(...highlight(code));
  }
}

const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|\b[0-9]+\b|\b(?:true|false|null)\b/g;

// Colors the names, strings and numbers of code.
function highlight(code) {
  const parts = [];
  let end = 0;
  for (const { 0: token, index } of code.matchAll(tokens)) {
    const span = document.createElement("span");
    span.className = !/^["'`]/.test(token) ? "n" : code[index + token.length] === ":" ? "k" : "s";
    span.textContent = token;
    parts.push(code.slice(end, index), span);
    end = index + token.length;
  }
  return [...parts, code.slice(end)];
}
