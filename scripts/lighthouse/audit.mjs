// Audits the pages with Lighthouse as it audits by default, on a phone, signed out and signed in, and the views of the desk on
// a desktop too. Every score must be 100. The category performance is left out, because it depends on how busy the machine is.
import lighthouse, { desktopConfig } from "lighthouse";
import puppeteer from "puppeteer-core";

const { SERVER, KEY, KEY_ID, BROWSER } = process.env;
const desk = [`/?q=bisc&status=available&category=1#key=${KEY}`, `/#key=${KEY}`, `/?animal=1#key=${KEY}`, `/?view=reservations#key=${KEY}`, `/?view=categories#key=${KEY}`, "/mistyped"];
const others = ["/", "/docs", "/docs/clients", "/docs/adoption", "/docs/limits", "/docs/events", "/docs/webhooks", "/console", `/?q=none#key=${KEY}`, `/?animal=404#key=${KEY}`, `/console#key=${KEY}`, `/console?key=${KEY_ID}#key=${KEY}`, `/console?view=store#key=${KEY}`];
const forms = [["a phone", undefined, [...desk, ...others]], ["a desktop", desktopConfig, desk]];

// Lighthouse audits a page when no more than two requests are open and none of them is urgent. The stream of events is not.
const options = { onlyCategories: ["accessibility", "best-practices", "seo"], logLevel: "error", networkQuietThresholdMs: 2000 };
const expected = { "/mistyped": ["http-status-code", "is-crawlable", "meta-description", "errors-in-console"] }; // what is a fault only of pages that exist

const browser = await puppeteer.launch({ executablePath: BROWSER, headless: "shell", args: ["--no-sandbox"] });
for (const [form, config, pages] of forms) for (const path of pages) await audit(path, form, config);
await browser.close();

async function audit(path, form, config) {
  const context = await browser.createBrowserContext();
  const skipAudits = expected[path];
  const run = async () => (await lighthouse(SERVER + path, { ...options, skipAudits, ignoreStatusCode: Boolean(skipAudits) }, config, await context.newPage())).lhr;
  const name = `${path.replace(KEY, "…")} on ${form}`;
  let lhr = await run();
  if (lhr.runtimeError) lhr = await run(); // on a busy machine, a page may start too slowly for Lighthouse
  if (lhr.runtimeError) throw new Error(`${name}: ${lhr.runtimeError.message}`);
  for (const category of Object.values(lhr.categories).filter(({ score }) => score !== 1)) {
    const failed = category.auditRefs.map(({ id }) => lhr.audits[id]).filter((found) => found && found.score !== null && found.score < 1);
    console.error(`${name}: ${category.title} ${category.score * 100}: ${failed.map(({ title }) => title).join("; ")}`);
    process.exitCode = 1;
  }
  await context.close();
}
