// The page "paste your request" in a real browser: PAGE=path/to/page.html npm test. Without PAGE it is skipped. SCREENSHOTS=folder keeps pictures.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const skip = !process.env.PAGE ? "NO PAGE: node packaging/npm/page/build.mjs makes it" : executablePath ? false : "NO CHROMIUM";
if (skip) console.error(skip);
let browser;

before(async () => {
  if (skip) return;
  browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"] });
});

after(() => browser?.close());

async function open(options = {}) {
  // The policy of the page forbids what axe does, and is looked at in a test of its own.
  const context = await browser.newContext({ viewport: { width: 1000, height: 900 }, bypassCSP: options.bypassCSP ?? false, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => request.url().startsWith("file:") || faults.push(`asked for ${request.url()}`));
  await page.goto(pathToFileURL(resolve(process.env.PAGE)).href);
  await page.waitForSelector("html[data-ready]");
  return { page, faults, close: () => context.close() };
}

const lost = JSON.stringify({
  model: "m",
  messages: [
    { role: "user", content: "<b>Hi</b>" },
    { role: "assistant", tool_calls: [{ id: "<i>c</i>", type: "function", function: { name: "f", arguments: "{}" } }] },
    { role: "user", content: "?" },
  ],
}, null, 1);

const verdict = (page) => page.textContent("#verdict");

test("what is pasted is judged, without a server and without a request", { skip }, async () => {
  const { page, faults, close } = await open();
  assert.equal(await verdict(page), "");
  await page.fill("#log", lost);
  await page.waitForSelector("li.error");
  assert.equal(await verdict(page), "1 error.");
  assert.match(await page.textContent("#read"), /1 request \(openai-chat\)/);
  const told = await page.textContent("li.error");
  assert.match(told, /OAI-CHAT-ANSWERED/);
  // What stands in messages is text, and never a part of the page.
  assert.match(told, /<i>c<\/i>/);
  assert.equal(await page.locator("li i").count(), 0);
  await page.fill("#log", lost.replace('"role": "user",\n   "content": "?"', '"role": "tool", "tool_call_id": "<i>c</i>",\n   "content": "4"'));
  await page.waitForFunction(() => document.getElementById("verdict").textContent === "No finding.");
  assert.equal(await page.locator("li").count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test("a finding leads to its line", { skip }, async () => {
  const { page, close } = await open();
  const fine = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });
  await page.fill("#log", `${fine}\n${JSON.stringify(JSON.parse(lost))}\n${fine}\n`);
  await page.click("text=Show line 2");
  const selected = await page.evaluate(() => document.getElementById("log").value.slice(document.getElementById("log").selectionStart, document.getElementById("log").selectionEnd));
  assert.equal(selected, JSON.stringify(JSON.parse(lost)));
  await close();
});

test("what cannot be judged is no verdict", { skip }, async () => {
  const { page, close } = await open();
  for (const text of ['{"a": 1}', "no JSON", '{"messages": [', "[]"]) {
    await page.fill("#log", text);
    await page.waitForFunction(() => document.getElementById("verdict").textContent !== "");
    assert.doesNotMatch(await verdict(page), /No finding/, text);
    await page.fill("#log", "");
    await page.waitForFunction(() => document.getElementById("verdict").textContent === "");
  }
  await close();
});

test("the API that it was sent to decides what is open", { skip }, async () => {
  const { page, close } = await open();
  const messages = JSON.parse(lost).messages.slice(0, 2);
  await page.fill("#log", JSON.stringify(messages));
  await page.waitForSelector("li.note");
  await page.selectOption("#api", "openai-chat");
  await page.waitForSelector("li.error");
  await close();
});

test("a file is read, also compressed; the example has a fault", { skip }, async () => {
  const { page, faults, close } = await open();
  await page.setInputFiles("#file", { name: "log.json.gz", mimeType: "application/gzip", buffer: gzipSync(lost) });
  await page.waitForSelector("li.error");
  assert.equal(await page.inputValue("#log"), "");
  await page.setInputFiles("#file", { name: "log.json", mimeType: "application/json", buffer: Buffer.from(lost) });
  await page.waitForFunction(() => document.getElementById("log").value !== "");
  await page.click("#example");
  assert.equal(await verdict(page), "1 error.");
  assert.deepEqual(faults, []);
  await close();
});

test("a log of many findings stays a page", { skip, timeout: 240_000 }, async () => {
  const { page, close } = await open();
  const log = Array.from({ length: 2000 }, (_, number) => JSON.stringify(JSON.parse(lost.replace("Hi", `Hi ${number}`)))).join("\n");
  // `fill` types, which takes longer than all the rest.
  await page.evaluate((text) => {
    document.getElementById("log").value = text;
    document.getElementById("log").dispatchEvent(new Event("input"));
  }, log);
  await page.waitForSelector("li.error", { timeout: 200_000 });
  assert.equal(await verdict(page), "2000 errors.");
  assert.equal(await page.locator("li").count(), 501);
  await close();
});

test("the keyboard reaches everything, and no request may leave", { skip }, async () => {
  const { page, close } = await open();
  const reached = [];
  for (let step = 0; step < 4; step += 1) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => document.activeElement.id));
  }
  assert.deepEqual(reached, ["log", "file", "api", "example"]);
  assert.equal(await page.evaluate(() => fetch("https://example.com/").then(() => "sent", () => "refused")), "refused");
  await close();
});

for (const [name, options] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["narrow", { colorScheme: "light", viewport: { width: 360, height: 740 } }],
]) {
  test(`${name}: nothing overflows, and axe finds nothing serious`, { skip, timeout: 240_000 }, async () => {
    const { page, close } = await open({ ...options, bypassCSP: true });
    await page.fill("#log", `${lost}\n{"messages": [{"role": "${"x".repeat(300)}"}]}\n{"a": 1}`);
    await page.waitForSelector("li.error");
    const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(wide <= room, `${wide} px in ${room} px`);
    if (process.env.SCREENSHOTS) {
      mkdirSync(process.env.SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: join(process.env.SCREENSHOTS, `page-${name}.png`), fullPage: true });
    }
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}: ${nodes[0].failureSummary}`), []);
    await close();
  });
}
