// The page "paste your request" in a real browser: PAGE=path/to/page.html npm test. Without PAGE it is skipped. SCREENSHOTS=folder keeps pictures.
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { after, before, test } from "node:test";
import { assertAccessible, assertFits, lacking, launch, looks, open as openFile, picture } from "./browser.mjs";

const skip = process.env.PAGE ? lacking : "NO PAGE: node packaging/npm/page/build.mjs makes it";
if (skip) console.error(skip);
let browser;

before(async () => {
  if (!skip) browser = await launch();
});

after(() => browser?.close());

async function open(options) {
  const opened = await openFile(browser, resolve(process.env.PAGE), { viewport: { width: 1000, height: 900 }, ...options });
  await opened.page.waitForSelector("html[data-ready]");
  return opened;
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
  // Of a request that stands over several lines it is that of the message.
  await page.fill("#log", lost);
  await page.click(`text=Show line ${lost.split("\n").lastIndexOf("  {") + 1}`);
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

for (const [name, options] of looks) {
  test(`${name}: nothing overflows, and axe finds nothing serious`, { skip, timeout: 240_000 }, async () => {
    // The policy of the page forbids what axe does.
    const { page, close } = await open({ ...options, bypassCSP: true });
    await page.fill("#log", `${lost}\n{"messages": [{"role": "${"x".repeat(300)}"}]}\n{"a": 1}`);
    await page.waitForSelector("li.error");
    await assertFits(page);
    await picture(page, `page-${name}`, { fullPage: true });
    await assertAccessible(page, name);
    await close();
  });
}
