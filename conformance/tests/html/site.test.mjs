// The site in a real browser: THREADSPEC=path/to/threadspec SITE=path/to/threadspec-site npm test. PAGE=path/to/page.html puts the page "paste your request" into it.
// MADE is the folder with the matrix that `matrix --pages` made, by default target/made.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { assertAccessible, assertFits, lacking, launch, looks, open as openFile, picture } from "./browser.mjs";

const root = join(import.meta.dirname, "../../..");
const threadspec = resolve(process.env.THREADSPEC ?? join(root, "target/debug/threadspec"));
const generator = resolve(process.env.SITE ?? join(root, "target/debug/threadspec-site"));
const folder = mkdtempSync(join(tmpdir(), "threadspec-site-"));
const site = join(folder, "site");
let browser;

before(async () => {
  const run = join(folder, "a-bug.json");
  spawnSync(threadspec, ["verify", "--quiet", "--filter", "messages/*", "--report", `json=${run}`, "--", threadspec, "serve", "--bug", "tool-results-dropped"]);
  const page = process.env.PAGE ? ["--page", resolve(process.env.PAGE)] : [];
  const made = resolve(process.env.MADE ?? join(root, "target/made"));
  execFileSync(generator, [site, "--checkout", root, "--made", made, ...page, run]);
  if (!lacking) browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

// A page of each kind.
const kinds = {
  index: "index.html",
  clauses: "clauses.html",
  clause: "clauses/AGENT-IDS.html",
  topics: "cases.html",
  cases: "cases/agent/ids.html",
  rules: "rules/openai-chat.html",
  errata: "errata.html",
  guide: "docs/conformance/provider/README.html",
  readme: "docs/README.html",
  results: "results.html",
  documents: "documents.html",
};
/** Looks at a page of each kind, one after the other. */
async function each(options, look) {
  const { page, faults, close } = await open("index.html", options);
  for (const [kind, path] of Object.entries(kinds)) {
    await page.goto(pathToFileURL(join(site, path)).href);
    await look(page, kind);
    assert.deepEqual(faults, [], kind);
  }
  await close();
}

const open = (page, options) => openFile(browser, join(site, page), { viewport: { width: 1280, height: 900 }, ...options });

test("no link is dead: every page, every place in it, every picture", () => {
  const files = readdirSync(site, { recursive: true }).filter((path) => statSync(join(site, path)).isFile());
  const places = new Map();
  const links = [];
  for (const path of files) {
    const text = path.endsWith(".html") ? readFileSync(join(site, path), "utf8").replace(/<script>[^]*?<\/script>/g, "") : "";
    places.set(path, new Set([...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)));
    for (const [, , link] of text.matchAll(/<[a-z][^<>]*?\s(href|src|srcset)="([^"]*)"/g)) links.push([path, link.replaceAll("&amp;", "&")]);
  }
  // What the search finds is a link, too.
  const found = [];
  new Function("window", readFileSync(join(site, "search.js"), "utf8"))({ threadspecSearch: (entries) => found.push(...entries) });
  assert.ok(found.length > 3000, `${found.length} can be found`);
  links.push(...found.map(([place]) => ["index.html", place]));
  assert.ok(files.length > 300 && links.length > 10_000, `${files.length} files, ${links.length} links`);
  const dead = links.filter(([from, link]) => {
    if (/^(https?:|mailto:|data:)/.test(link)) return false;
    const [path, place] = link.split("#");
    const to = path ? relative(site, join(site, dirname(from), decodeURIComponent(path))) : from;
    return !places.has(to) || (place && !places.get(to).has(decodeURIComponent(place)));
  });
  assert.deepEqual(dead.slice(0, 20), [], `${dead.length} dead links`);
});

test("the search finds what is meant, and leads there", { skip: lacking }, async () => {
  const { page, faults, close } = await open("clauses/AGENT-IDS.html");
  for (const [words, first] of [
    ["agent-ids", "AGENT-IDS"],
    ["ampersand-alone", "escape/five-characters/ampersand-alone"],
    ["oai-chat-answered", "OAI-CHAT-ANSWERED (openai-chat)"],
    ["line ends and white space in attributes", "E3 · Line ends and white space in attributes – Errata"],
  ]) {
    await page.fill("input[type=search]", words);
    await page.waitForFunction((first) => document.querySelector(".search li a")?.textContent === first, first);
  }
  await page.fill("input[type=search]", "no such words anywhere");
  await page.waitForFunction(() => document.querySelector(".search p").textContent === "0 found");
  await page.fill("input[type=search]", "ampersand-alone");
  await page.waitForSelector(".search li a");
  await page.keyboard.press("Enter");
  await page.waitForURL(/cases\/escape\/five-characters\.html#ampersand-alone$/);
  assert.ok(await page.locator("#ampersand-alone pre").first().isVisible());
  assert.deepEqual(faults, []);
  await close();
});

test("everything can be read without a script, and printed without what only a screen needs", { skip: lacking }, async () => {
  await each({ javaScriptEnabled: false }, async (page, kind) => {
    assert.ok((await page.locator("main").innerText()).length > 100, kind);
    assert.ok(!(await page.locator(".search").isVisible()), kind);
    await page.emulateMedia({ media: "print" });
    assert.ok(!(await page.locator("nav").isVisible()), kind);
    await page.emulateMedia({ media: "screen" });
  });
});

test("the keyboard reaches the content, the navigation, the search and what moves by itself", { skip: lacking }, async () => {
  const { page, close } = await open("cases/agent/ids.html");
  const reached = [];
  for (let step = 0; step < 40; step += 1) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => document.activeElement.className || document.activeElement.tagName));
  }
  assert.equal(reached[0], "skip");
  assert.ok(["A", "INPUT", "PRE"].every((one) => reached.includes(one)), String(reached));
  await page.keyboard.press("Shift+Tab");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none");
  await close();
});

for (const [name, options] of looks) {
  test(`${name}: nothing overflows, and axe finds nothing serious`, { skip: lacking, timeout: 240_000 }, async () => {
    await each(options, async (page, kind) => {
      await assertFits(page);
      await picture(page, `site-${kind}-${name}`);
      await assertAccessible(page, name);
    });
  });
}

test("the largest pages fit a phone", { skip: lacking }, async () => {
  for (const path of ["MATRIX", "SESSIONS"]) {
    const { page, close } = await open(`docs/conformance/adapters/frameworks/${path}.html`, { viewport: { width: 360, height: 740 } });
    await assertFits(page);
    await close();
  }
});

test("pages that were made for themselves work on the site, fit a phone, and lead back", { skip: lacking }, async () => {
  for (const path of ["matrix.html", ...(process.env.PAGE ? ["paste.html"] : [])]) {
    const { page, faults, close } = await open("index.html", { viewport: { width: 360, height: 740 } });
    await page.click(`nav a[href="${path}"]`);
    if (path === "paste.html") {
      await page.waitForSelector("html[data-ready]");
      await page.click("#example");
      await page.waitForSelector("li.error");
    }
    await assertFits(page);
    await picture(page, `site-${path}-narrow`);
    await page.click("text=threadspec");
    await page.waitForURL(/\/index\.html$/);
    assert.deepEqual(faults, [], path);
    await close();
  }
});
