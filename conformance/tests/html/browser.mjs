// What the tests of pages share: a real browser, and what must hold of every page.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/** Why nothing can be tested, if that is so. */
export const lacking = executablePath ? false : "NO CHROMIUM: pages are not tested (apt-get install chromium)";

export const launch = () =>
  chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"] });

/** A file in a context of its own. `faults` are errors on its console, and requests for anything but files. */
export async function open(browser, file, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => request.url().startsWith("file:") || faults.push(`asked for ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  return { page, faults, close: () => context.close() };
}

/** How a page is looked at. */
export const looks = [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["narrow", { colorScheme: "light", viewport: { width: 360, height: 740 } }],
];

export async function assertFits(page) {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= room, `${wide} px in ${room} px`);
}

/** A dark page differs from a light one in its colours, and a narrow one in what scrolls. */
const looksDiffer = { dark: ["color-contrast"], narrow: ["scrollable-region-focusable"] };

export async function assertAccessible(page, look) {
  const runOnly = looksDiffer[look];
  // Nothing is loaded again: from a file, a page may not read its own style sheet.
  await page.evaluate(axe);
  const options = { resultTypes: ["violations"], preload: false, ...(runOnly && { runOnly }) };
  const { violations } = await page.evaluate((options) => window.axe.run(document, options), options);
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}: ${nodes[0].failureSummary}`), []);
}

/** Keeps a picture to look at, if SCREENSHOTS names a folder. */
export async function picture(page, name, options) {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), ...options });
}
