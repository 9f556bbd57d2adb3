// The HTML report in a real browser: THREADSPEC=path/to/threadspec npm test. SCREENSHOTS=folder keeps pictures to look at.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { assertAccessible, assertFits, lacking as skip, launch, looks, open as openFile, picture } from "./browser.mjs";

const threadspec = resolve(process.env.THREADSPEC ?? join(import.meta.dirname, "../../../target/debug/threadspec"));
if (skip) console.error(skip);
const folder = mkdtempSync(join(tmpdir(), "threadspec-html-"));
const page_file = join(folder, "report.html");
// axe looks at every element, of which a few cases have all kinds.
const few = join(folder, "few.html");
let browser, run;

before(async () => {
  if (skip) return;
  const verify = (name, ...testee) => {
    spawnSync(threadspec, ["verify", "--quiet", "--report", `json=${join(folder, name)}`, ...testee]);
    return JSON.parse(readFileSync(join(folder, name), "utf8"));
  };
  run = verify("bug.json", "--", threadspec, "serve", "--bug", "tool-results-dropped");
  // An unexpected pass is no failure.
  const reference = verify("reference.json");
  reference.cases[0].verdict = "unexpected-pass";
  writeFileSync(join(folder, "reference.json"), JSON.stringify(reference));
  execFileSync(threadspec, ["report", "--format", "html", "-o", page_file, join(folder, "bug.json"), join(folder, "reference.json")]);
  verify("few.json", "--filter", "messages/*", "--", threadspec, "serve", "--bug", "tool-results-dropped");
  execFileSync(threadspec, ["report", "--format", "html", "-o", few, join(folder, "few.json")]);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const open = (options, file = page_file) => openFile(browser, file, { viewport: { width: 1200, height: 900 }, ...options });

const shown = (page) => page.locator(".case:visible").count();

test("filters and search show what they say", { skip }, async () => {
  const { page, faults, close } = await open();
  const all = await page.locator(".case").count();
  assert.equal(await shown(page), all);
  const failed = run.cases.filter((one) => one.verdict === "fail").length;
  await page.selectOption("#verdict", "failed");
  assert.equal(await shown(page), failed);
  assert.equal(await page.textContent("#shown"), `${failed} of ${all} cases`);
  await page.selectOption("#op", "messages");
  assert.equal(await shown(page), run.cases.filter((one) => one.verdict === "fail" && one.op === "messages").length);
  await page.click("button[type=reset]");
  await page.waitForFunction((all) => document.getElementById("shown").textContent === `${all} of ${all} cases`, all);
  await page.fill("#search", "escape/five-characters/ampersand-alone");
  await page.waitForFunction(() => !document.getElementById("shown").textContent.startsWith("1 of 0"));
  await page.waitForFunction((all) => !document.getElementById("shown").textContent.startsWith(`${all} `), all);
  assert.ok((await shown(page)) >= 1);
  await page.fill("#search", "no such words anywhere");
  await page.waitForSelector("#none:visible");
  assert.equal(await shown(page), 0);
  assert.deepEqual(faults, []);
  await close();
});

test("a link opens a case that a filter hides, and the case says everything", { skip }, async () => {
  const { page, faults, close } = await open();
  const { id, repeat } = run.cases.find((one) => one.verdict === "fail");
  await page.fill("#search", "no such words anywhere");
  await page.waitForSelector("#none:visible");
  await page.evaluate((id) => { location.hash = `#case/${id}`; }, id);
  const one = page.locator(`[id="case/${id}"]`);
  await one.locator(".result").waitFor({ state: "visible" });
  const text = await one.innerText();
  for (const part of ["Input", "Expected", "Actual", "Repeat", repeat]) assert.ok(text.includes(part), part);
  assert.ok(await one.locator("ins, del").count());
  assert.deepEqual(faults, []);
  await close();
});

test("a large case keeps what is around its difference, and is shown in short", { skip }, async () => {
  const size = (name) => statSync(join(folder, name)).size / 1e6;
  assert.ok(size("bug.json") < 4 && size("reference.json") < 1, ["bug.json", "reference.json"].map(size).join(" MB, "));
  const { page, close } = await open();
  const cases = await page.locator(".case").count();
  assert.ok(size("report.html") / cases * 300 < 1, `${size("report.html")} MB for ${cases} cases`);
  const large = run.cases.filter((one) => one.verdict === "fail" && one.expand);
  assert.ok(large.length > 5);
  for (const { id } of large) {
    const text = await page.locator(`[id="case/${id}"]`).evaluate((element) => element.textContent);
    assert.ok(text.length < 40_000, `${id}: ${text.length} characters`);
  }
  await close();
});

test("only cases that were run are there, with the number of runs that ended so", { skip }, async () => {
  const { page, close } = await open();
  const badges = (which) => page.locator(".case > summary")[which]().locator(".badge").allTextContents();
  for (const shown of [await badges("first"), await badges("last")]) assert.ok(shown.length && shown.every((text) => /^[12] /.test(text)), String(shown));
  await close();
});

test("what to mend first stands above everything, and its fault is open", { skip }, async () => {
  const { page, close } = await open();
  const sentence = await page.locator("#summary > p").first().innerText();
  assert.match(sentence, /Fix first: [A-Z]+-[A-Z0-9-]+.*, in \d+ cases?( \(\d+ of them do(es)? not count\))?, such as /);
  const first = page.locator("#causes .cause").first();
  assert.ok(await first.evaluate((element) => element.open));
  for (const part of ["The script", "Repeat"]) assert.ok((await first.innerText()).includes(part), part);
  // One fault is one row, with a count for each run.
  assert.deepEqual(await first.locator("summary .count").allTextContents().then((counts) => counts.length), 2);
  await close();
});

test("twelve implementations with long names fit, and the clauses stay in sight", { skip }, async () => {
  const file = join(folder, "twelve.html");
  const runs = Array.from({ length: 12 }, (_, number) => {
    const one = JSON.parse(readFileSync(join(folder, "reference.json"), "utf8"));
    one.testee.implementation.name = number ? `implementation-${number}-with-a-name-of-more-than-forty-characters` : "x".repeat(300);
    const path = join(folder, `${number}.json`);
    writeFileSync(path, JSON.stringify(one));
    return path;
  });
  execFileSync(threadspec, ["report", "--format", "html", "-o", file, ...runs]);
  for (const width of [360, 1200]) {
    const { page, faults, close } = await open({ viewport: { width, height: 740 } }, file);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
    const widths = await page.locator("thead th").evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().width));
    assert.ok(widths.length === 13 && widths.every((wide) => wide < 260), String(widths));
    const offset = await page.locator(".scroll").evaluate((region) => {
      region.scrollLeft = 400;
      return region.querySelector("tbody th").getBoundingClientRect().left - region.getBoundingClientRect().left;
    });
    assert.ok(offset >= 0 && offset < 3, `${offset} px`);
    assert.deepEqual(faults, []);
    await close();
  }
});

test("every part can be reached and opened with the keyboard", { skip }, async () => {
  const { page, close } = await open();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.locator(".case > summary").first().focus();
  await page.keyboard.press("Enter");
  assert.ok(await page.locator(".case").first().evaluate((element) => element.open));
  await close();
});

for (const [name, options] of looks) {
  test(`${name}: nothing overflows, and axe finds nothing serious`, { skip, timeout: 240_000 }, async () => {
    const { page, faults, close } = await open(options, few);
    await page.selectOption("#verdict", "failed");
    for (const selector of [".case:visible", "#causes details", ".clause"]) {
      await page.locator(selector).first().evaluate((element) => { element.open = true; });
    }
    await assertFits(page);
    if (process.env.SCREENSHOTS) {
      await picture(page, `${name}-top`);
      await page.locator("#cases").scrollIntoViewIfNeeded();
      await page.evaluate(() => document.getElementById("cases").scrollIntoView());
      await picture(page, `${name}-cases`);
      await page.locator(".case:visible .result").first().scrollIntoViewIfNeeded();
      await page.evaluate(() => document.querySelector(".case[open] .result").scrollIntoView());
      await picture(page, `${name}-difference`);
    }
    await assertAccessible(page, name);
    assert.deepEqual(faults, []);
    await close();
  });
}
