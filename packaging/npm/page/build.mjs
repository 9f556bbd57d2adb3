// node build.mjs OUT.html WASM
// Makes the page "paste your request": one file that needs no server and asks for nothing. WASM as for `../build.mjs`.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [out, wasm] = process.argv.slice(2);
if (!wasm) throw new Error("usage: node build.mjs OUT.html WASM");
const text = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const parts = {
  WASM: gzipSync(readFileSync(wasm), { level: 9 }).toString("base64"),
  MODULE: text("../lib/module.mjs").replace(/^export /m, ""),
  PAGE: text("page.mjs"),
};
const page = text("page.html").replace(/\/\*(WASM|MODULE|PAGE)\*\//g, (_, name) => parts[name]);
writeFileSync(out, page);
