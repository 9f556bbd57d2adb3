// The matrix in a real browser: MADE=folder npm test, where `matrix --pages folder` made it; without MADE, target/made. SCREENSHOTS=folder keeps pictures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { assertAccessible, assertFits, lacking as skip, launch, looks, open as openFile, picture } from "./browser.mjs";

const frameworks = resolve(process.env.MADE ?? join(import.meta.dirname, "../../../target/made"), "conformance/adapters/frameworks");
const file = join(frameworks, "matrix.html");
if (skip) console.error(skip);
let browser;

before(async () => {
  if (!skip) browser = await launch();
});

after(() => browser?.close());

const open = (options) => openFile(browser, file, { viewport: { width: 1280, height: 900 }, ...options });

for (const javaScriptEnabled of [true, false]) {
  for (const [name, look] of looks) {
    test(`all of it fits and can be read: ${name}${javaScriptEnabled ? "" : ", without script"}`, { skip }, async () => {
      const { page, faults, close } = await open({ ...look, javaScriptEnabled });
      await assertFits(page);
      if (javaScriptEnabled) {
        await assertAccessible(page, name);
        await picture(page, `matrix-${name}`);
        await page.locator("#gateway").scrollIntoViewIfNeeded();
        await picture(page, `matrix-${name}-gateways`);
      } else {
        assert.equal(await page.locator("form:visible").count(), 0);
      }
      for (const door of ["adapter", "wire", "session", "gateway"]) assert.ok(await page.locator(`section[data-door=${door}] .grid`).isVisible(), door);
      assert.deepEqual(faults, []);
      await close();
    });
  }
}

test("each table holds what its page in Markdown says", { skip }, async () => {
  const { page, close } = await open();
  const rows = await page.$$eval("section[data-door=adapter] .grid tr[data-clause]", (rows) =>
    rows.map((row) => [row.dataset.clause, ...[...row.cells].slice(1).map((cell) => cell.querySelector("b")?.textContent ?? "")]));
  const told = readFileSync(join(frameworks, "MATRIX.md"), "utf8").split("\n").filter((line) => /^\| AGENT-\S+ (\(should\) )?\| .*(pass|FAIL)/.test(line))
    .map((line) => line.slice(2, -2).split(" | ").map((cell) => cell.replace(" (should)", "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").trim()))
    .filter((cells) => cells.length === rows[0].length);
  assert.ok(rows.length > 20);
  assert.deepEqual(rows.toSorted(), told.toSorted());
  await close();
});

test("the worst stands first", { skip }, async () => {
  const { page, close } = await open();
  for (const door of ["adapter", "wire", "session", "gateway"]) {
    const worst = await page.$$eval(`section[data-door=${door}] .grid tr[data-clause]`, (rows) => rows.map((row) => row.dataset.severity[0] ?? "D"));
    assert.deepEqual(worst, worst.toSorted(), door);
  }
  await close();
});

const visible = (page, selector) => page.locator(`${selector}:visible`).count();

test("filters show what they say", { skip }, async () => {
  const { page, faults, close } = await open();
  const all = await visible(page, ".grid tr[data-clause]");
  await page.selectOption("#door", "session");
  assert.equal(await visible(page, ".grid"), 1);
  assert.equal(await visible(page, ".grid tr[data-clause]"), await page.locator("section[data-door=session] .grid tr[data-clause]").count());
  await page.selectOption("#door", "");
  await page.selectOption("#severity", "A");
  const rows = await page.$$eval(".grid tr[data-clause]:not([hidden])", (rows) => rows.map((row) => row.dataset.severity));
  assert.ok(rows.length && rows.every((severities) => severities.includes("A")));
  // What else such a row shows steps back, and nothing else does.
  const cells = await page.$$eval(".grid tr[data-clause]:not([hidden]) td:not(.off)", (cells) => cells.map((cell) => cell.dataset.severity ?? ""));
  assert.ok(cells.length && cells.every((severities) => severities.includes("A")));
  await page.selectOption("#severity", "");
  await page.selectOption("#language", "Rust");
  const heads = await page.$$eval("section[data-door=adapter] .grid thead th", (heads) => heads.filter((head) => head.checkVisibility()).map((head) => head.dataset.language));
  assert.deepEqual(heads, [undefined, "Rust"]);
  assert.equal(await page.locator("section[data-door=adapter] .grid tbody tr[data-clause]").first().locator("td:visible").count(), 1);
  await page.selectOption("#language", "");
  await page.fill("#clause", "agent-ids");
  assert.deepEqual(new Set(await page.$$eval(".grid tr[data-clause]:not([hidden])", (rows) => rows.map((row) => row.dataset.clause))), new Set(["AGENT-IDS"]));
  const [broken, shown] = (await page.textContent("#shown")).match(/\d+/g).map(Number);
  assert.equal(shown, await visible(page, ".grid tr[data-clause]"));
  assert.equal(broken, await visible(page, ".grid td:is(.fail, .warn)"));
  await page.click("button[type=reset]");
  await page.waitForFunction((all) => document.querySelectorAll(".grid tr[data-clause]:not([hidden])").length === all, all);
  assert.deepEqual(faults, []);
  await close();
});

test("a keyboard is enough to get from a cell to what it says, even if a filter hides that", { skip }, async () => {
  const { page, close } = await open();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip the tables");
  const link = page.locator("section[data-door=adapter] .grid td.fail a").first();
  const target = (await link.getAttribute("href")).slice(1);
  await link.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((id) => document.getElementById(id).closest("details").open, target);
  await page.selectOption("#door", "gateway");
  await page.evaluate((id) => { location.hash = ""; location.hash = id; }, target);
  await page.waitForFunction((id) => document.getElementById(id).checkVisibility(), target);
  await close();
});

test("no link is dead", { skip }, async () => {
  const { page, close } = await open();
  const dead = await page.$$eval("a[href^='#']", (links) => links.map((link) => link.hash.slice(1)).filter((id) => !document.getElementById(id)));
  assert.deepEqual(dead, []);
  const twice = await page.$$eval("[id]", (elements) => elements.map(({ id }) => id).filter((id, place, all) => all.indexOf(id) !== place));
  assert.deepEqual(twice, []);
  await close();
});
