// What is wrong with messages, requests and logs: `threadspec check` in WebAssembly, for Node and browsers.
import { load } from "./module.mjs";

const file = new URL("./threadspec.wasm", import.meta.url);
const isNode = typeof process !== "undefined" && Boolean(process.versions?.node);
const bytes = isNode ? await (await import("node:fs/promises")).readFile(file) : await (await fetch(file)).arrayBuffer();

export const { check, format, assertHistory } = await load(bytes);
