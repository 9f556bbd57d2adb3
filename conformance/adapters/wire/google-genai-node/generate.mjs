// An agent on the official `@google/genai` package.

import { GoogleGenAI } from '@google/genai';
import { Refused, serveAgent } from '../shared/agent.mjs';
import { ANY_ARGUMENTS } from '../shared/wire.mjs';

const ROLES = { human: 'user', ai: 'model', system: 'system' };

function generate({ baseUrl, apiKey, model, stream, reasoning }, names) {
  const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
  // The API takes no name that begins in another way.
  const functions = names.filter((name) => /^[a-zA-Z_]/.test(name)).map((name) => ({ name, parametersJsonSchema: ANY_ARGUMENTS }));
  const options = {
    ...(reasoning && { thinkingConfig: { includeThoughts: true } }),
    ...(functions.length && { tools: [{ functionDeclarations: functions }] }),
  };
  // The names of the calls by their ids, and ids for calls that come without: the API needs none.
  const called = new Map();
  const own = new Set();

  function call({ id: given, name, args = {} }) {
    const id = given || `own-${own.size + 1}`;
    if (!given) own.add(id);
    called.set(id, name);
    return { id, name, arguments: args };
  }

  return {
    items({ type, content, tool_calls: calls = [] }) {
      calls.forEach(({ id, name }) => called.set(id, name));
      const made = calls.map(({ id, name, args }) => ({ functionCall: { id, name, args: args ?? {} } }));
      const parts = [...(content.trim() ? [{ text: content }] : []), ...made];
      return parts.length ? [{ role: ROLES[type], parts }] : [];
    },

    answers: (pairs) => [{
      role: 'user',
      parts: pairs.map(([id, result]) => ({
        functionResponse: { ...(!own.has(id) && { id }), name: called.get(id) ?? '', response: { result } },
      })),
    }],

    async ask(items) {
      const system = items.filter(({ role }) => role === 'system').flatMap(({ parts }) => parts);
      const config = { ...options, ...(system.length && { systemInstruction: { parts: system } }) };
      const request = { model, contents: items.filter(({ role }) => role !== 'system'), config };
      const pieces = [];
      if (stream) {
        for await (const piece of await models.generateContentStream(request)) pieces.push(piece);
      } else {
        pieces.push(await models.generateContent(request));
      }
      const candidates = pieces.flatMap(({ candidates: [first] = [] }) => (first ? [first] : []));
      const reason = candidates.map(({ finishReason }) => finishReason).filter(Boolean).at(-1);
      if (!reason) throw new Refused('the stream ended in the middle');
      const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
      const text = parts.filter(({ thought }) => !thought).map((part) => part.text ?? '').join('');
      const calls = parts.flatMap(({ functionCall }) => (functionCall ? [call(functionCall)] : []));
      // A piece of a stream may be an empty text; the API takes none back.
      const kept = parts.filter((part) => part.text !== '' || part.thoughtSignature);
      return { text, calls, items: kept.length ? [{ role: 'model', parts: kept }] : [], cutOff: reason === 'MAX_TOKENS' };
    },
  };
}

await serveAgent(generate, 'gemini', {
  from: import.meta.url, package: '@google/genai', label: '@google/genai (JavaScript)', url: 'https://github.com/googleapis/js-genai',
});
