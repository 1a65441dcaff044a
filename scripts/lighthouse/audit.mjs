// Audits the pages with Lighthouse as it audits by default, on a phone, signed out and signed in. Every score must be 100.
// The category performance is left out, because it depends on how busy the machine is.
import lighthouse from "lighthouse";
import puppeteer from "puppeteer-core";

const { SERVER, KEY, KEY_ID, BROWSER } = process.env;
const pages = ["/", "/docs", "/docs/webhooks", "/console", `/#key=${KEY}`, `/?q=bisc&status=available&category=1#key=${KEY}`, `/?q=none#key=${KEY}`, `/?view=reservations#key=${KEY}`, `/?view=categories#key=${KEY}`, `/console#key=${KEY}`, `/console?key=${KEY_ID}#key=${KEY}`, `/console?view=store#key=${KEY}`];
const options = { onlyCategories: ["accessibility", "best-practices", "seo"], logLevel: "error" };

const browser = await puppeteer.launch({ executablePath: BROWSER, headless: "shell", args: ["--no-sandbox"] });
for (const path of pages) {
  const context = await browser.createBrowserContext();
  const { lhr } = await lighthouse(SERVER + path, options, undefined, await context.newPage());
  const name = path.replace(KEY, "…");
  if (lhr.runtimeError) throw new Error(`${name}: ${lhr.runtimeError.message}`);
  for (const category of Object.values(lhr.categories).filter(({ score }) => score !== 1)) {
    const failed = category.auditRefs.map(({ id }) => lhr.audits[id]).filter(({ score }) => score !== null && score < 1);
    console.error(`${name}: ${category.title} ${category.score * 100}: ${failed.map(({ title }) => title).join("; ")}`);
    process.exitCode = 1;
  }
  await context.close();
}
await browser.close();
