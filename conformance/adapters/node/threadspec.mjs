// The document and the messages: pure functions of a list of events.
// Every function takes a `profile`, `literal` (the default) or `hardened`.

import { message } from './langchain.mjs';

// What XML 1.0 forbids, lone surrogates apart: those are left to `toWellFormed`.
const FORBIDDEN = /[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/g;

const REFERENCES = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;',
  '\t': '&#9;', '\n': '&#10;', '\r': '&#13;',
};

const escapeAll = (text, characters) =>
  text.toWellFormed().replace(FORBIDDEN, '\uFFFD').replace(characters, (character) => REFERENCES[character]);

/** Escapes `text` for use between tags. */
export function escapeXml(text, profile = 'literal') {
  return escapeAll(text, profile === 'hardened' ? /[&<>"'\r]/g : /[&<>"']/g);
}

function escapeAttribute(value, profile) {
  return escapeAll(String(value), profile === 'hardened' ? /[&<>"'\t\n\r]/g : /[&<>"']/g);
}

/** The `<thread>` document of `events`. */
export function serializeThreadToXml(events, { responsePrefix = '', profile = 'literal' } = {}) {
  const toolNames = new Map();
  const lines = events.map((event, id) => {
    if (event.type === 'tool_call') toolNames.set(event.toolCallId, event.toolName);
    const { type, body, ...others } = describe(event, toolNames, profile);
    const attributes = Object.entries({ type, id, ...others })
      .map(([name, value]) => ` ${name}="${escapeAttribute(value, profile)}"`);
    return `  <event${attributes.join('')}>${escapeXml(body, profile)}</event>`;
  });
  const document = ['<thread>', ...lines, '</thread>'];
  if (responsePrefix !== '') document.push(responsePrefix.toWellFormed());
  return document.join('\n');
}

const MESSAGE_TYPES = { user: 'human', assistant: 'ai', system: 'system' };

// The attributes after `id` stand in the order of the properties here.
function describe(event, toolNames, profile) {
  const { type, iteration } = event;
  switch (type) {
    case 'message': return { type: MESSAGE_TYPES[event.role], iteration, body: event.content };
    case 'tool_call': return { type: 'tool_input', name: event.toolName, iteration, body: JSON.stringify(event.args) };
    case 'tool_result': return {
      type: 'tool_output',
      name: toolNames.get(event.toolCallId) ?? 'unknown',
      status: 'success',
      iteration,
      body: profile === 'hardened' ? resultText(event.result) : toString(event.result),
    };
    case 'error': return { type, iteration, recoverable: event.recoverable, body: event.error };
    case 'human_input_requested': return { type, iteration, body: event.question };
    case 'human_input_received': return { type, iteration, body: event.response };
    case 'completion': return { type, iteration, body: event.result };
    case 'summary': return { type, iteration, summarizedIterations: event.summarizedIterations.join(','), body: event.summary };
  }
}

// `String(value)` for JSON data; `String` itself throws on an object that has a member `toString`.
function toString(value) {
  if (Array.isArray(value)) return value.map((element) => (element === null ? '' : toString(element))).join(',');
  return typeof value === 'object' && value !== null ? '[object Object]' : String(value);
}

/** The text of a tool result in messages; an absent one reads `undefined`. */
export function resultText(result) {
  return typeof result === 'string' ? result : String(JSON.stringify(result));
}

/** The messages that present `events` to a model. */
export function buildMessages(events, { contextMode = 'standard', instructions = '', profile = 'literal' } = {}) {
  const system = [summariesText(events), instructions].filter((part) => part !== '').join('\n\n');
  return [
    ...(system === '' ? [] : [message({ type: 'system', content: system })]),
    ...(contextMode === 'xml' ? [human(serializeThreadToXml(events, { profile }))]
      : profile === 'hardened' ? pairedHistory(events)
        : events.flatMap(history)),
  ];
}

function summariesText(events) {
  const summaries = events.filter((event) => event.type === 'summary')
    .map((event) => `### Iteration(s) ${event.summarizedIterations.join(', ')}\n${event.summary}\n\n`);
  return summaries.length === 0 ? '' : `## Previous Iteration Summaries\n\n${summaries.join('')}`;
}

const human = (content) => message({ type: 'human', content });

/** An assistant message. `calls` may be empty. */
export const ai = (content, calls) => message({ type: 'ai', content, tool_calls: calls });

/** A tool message that answers the call with this id. */
export const tool = (id, content) => message({ type: 'tool', content, tool_call_id: id });

const callOf = (event) => ({ id: event.toolCallId, name: event.toolName, args: event.args });

// The messages of one event on its own: one or none.
function history(event) {
  switch (event.type) {
    case 'message':
      if (event.role === 'assistant') return [ai(event.content, [])];
      return [human(event.role === 'system' ? `[System]: ${event.content}` : event.content)];
    case 'tool_call': return [ai('', [callOf(event)])];
    case 'tool_result': return [tool(event.toolCallId, resultText(event.result))];
    case 'error': return [human(`[Error${event.recoverable ? ' (recoverable)' : ''}]: ${event.error}`)];
    case 'human_input_received': return [human(`[Human Response]: ${event.response}`)];
    default: return [];
  }
}

// Hardened: what providers accept. Calls that stand together form one message, followed at once by one answer per call.
function* pairedHistory(events) {
  const resultOf = pairResults(events);
  const answering = new Set(resultOf.values());
  for (let at = 0; at < events.length; at++) {
    const event = events[at];
    if (event.type === 'tool_call') {
      const calls = groupAt(events, at);
      yield ai('', calls.map((call) => callOf(events[call])));
      const results = calls.flatMap((call) => resultOf.get(call) ?? []).sort((a, b) => a - b);
      for (const result of results) yield* history(events[result]);
      for (const call of calls) if (!resultOf.has(call)) yield tool(events[call].toolCallId, '[No result recorded]');
      at += calls.length - 1;
    } else if (event.type !== 'tool_result') {
      yield* history(event);
    } else if (!answering.has(at)) {
      yield human(`[Tool result]: ${resultText(event.result)}`);
    }
  }
}

// From the index of each call that has a result to the index of that result.
function pairResults(events) {
  const nearestCall = new Map();
  const resultOf = new Map();
  events.forEach((event, at) => {
    if (event.type === 'tool_call') nearestCall.set(event.toolCallId, at);
    if (event.type !== 'tool_result') return;
    const call = nearestCall.get(event.toolCallId);
    if (call !== undefined && !resultOf.has(call)) resultOf.set(call, at);
  });
  return resultOf;
}

// The indices of the calls from `start` on that follow each other directly, in one iteration and with different ids.
function groupAt(events, start) {
  const ids = new Set();
  const calls = [];
  for (let at = start; at < events.length; at++) {
    const { type, iteration, toolCallId } = events[at];
    if (type !== 'tool_call' || iteration !== events[start].iteration || ids.has(toolCallId)) break;
    ids.add(toolCallId);
    calls.push(at);
  }
  return calls;
}
