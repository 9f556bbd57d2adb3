// The obvious first version of a thread serializer in JavaScript: a peer of the benchmarks.
//
//   node serialize.mjs FILE             writes the document of an event log
//   node serialize.mjs --rounds FILE    serializes once for each line of stdin; answers with seconds and length in bytes

import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

function escapeXml(text) {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;")
    .replace(/'/g, "&apos;");
}

const TYPES = { user: "human", assistant: "ai", system: "system" };

export function serializeThread(events) {
  const toolNames = new Map();
  for (const event of events) {
    if (event.type === "tool_call") toolNames.set(event.toolCallId, event.toolName);
  }
  const lines = events.map((event, id) => {
    const iteration = event.iteration;
    switch (event.type) {
      case "message":
        return `  <event type="${TYPES[event.role]}" id="${id}" iteration="${iteration}">${escapeXml(event.content)}</event>`;
      case "tool_call": {
        const args = escapeXml(JSON.stringify(event.args));
        return `  <event type="tool_input" id="${id}" name="${escapeXml(event.toolName)}" iteration="${iteration}">${args}</event>`;
      }
      case "tool_result": {
        const name = escapeXml(toolNames.get(event.toolCallId) ?? "unknown");
        const result = escapeXml(String(event.result));
        return `  <event type="tool_output" id="${id}" name="${name}" status="success" iteration="${iteration}">${result}</event>`;
      }
      default:
        throw new Error(`no ${event.type} in the benchmark's threads`);
    }
  });
  return `<thread>\n${lines.join("\n")}\n</thread>`;
}

const [mode, file] = process.argv.slice(2);
if (mode === "--rounds") {
  const events = JSON.parse(readFileSync(file, "utf8"));
  for await (const _ of createInterface({ input: process.stdin })) {
    const [start, used] = [process.hrtime.bigint(), process.cpuUsage()];
    const document = serializeThread(events);
    // Makes one string of what the engine has joined lazily, as any use of it would.
    const length = Buffer.byteLength(document);
    const { user, system } = process.cpuUsage(used);
    // The smaller one: helper threads add to processor time, other processes to elapsed time.
    const seconds = Math.min(Number(process.hrtime.bigint() - start) / 1e9, (user + system) / 1e6);
    console.log(JSON.stringify({ seconds, length }));
  }
} else {
  const document = Buffer.from(serializeThread(JSON.parse(readFileSync(mode, "utf8"))));
  for (let at = 0; at < document.length; ) at += writeSync(1, document, at);
}
