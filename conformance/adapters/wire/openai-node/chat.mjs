// An agent on the official `openai` package, Chat Completions.

import OpenAI from 'openai';
import { Refused, serveAgent } from '../shared/agent.mjs';
import { ANY_ARGUMENTS } from '../shared/wire.mjs';

const ROLES = { system: 'system', human: 'user' };

function chat({ baseUrl, apiKey, model, stream, reasoning }, names) {
  const { completions } = new OpenAI({ baseURL: baseUrl, apiKey }).chat;
  const tools = names.map((name) => ({ type: 'function', function: { name, parameters: ANY_ARGUMENTS } }));
  const options = { model, ...(reasoning && { reasoning_effort: 'medium' }), ...(tools.length && { tools }) };

  return {
    items({ type, content, tool_calls: calls = [] }) {
      if (type !== 'ai') return [{ role: ROLES[type], content }];
      return [assistant(content, calls.map(({ id, name, args }) => ({ id, name, arguments: JSON.stringify(args ?? {}) })))];
    },

    answers: (pairs) => pairs.map(([id, content]) => ({ role: 'tool', tool_call_id: id, content })),

    async ask(messages) {
      const { choices: [{ message, finish_reason: reason }] } = stream
        ? await completions.stream({ messages, stream_options: { include_usage: true }, ...options }).finalChatCompletion()
        : await completions.create({ messages, ...options });
      if (reason == null) throw new Refused('the stream ended in the middle');
      const text = message.content || message.refusal || '';
      const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args }));
      return { text, calls, items: [assistant(text, calls)], cutOff: reason === 'length' };
    },
  };
}

function assistant(text, calls) {
  const made = calls.map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: args } }));
  return { role: 'assistant', content: text || (made.length ? null : ''), ...(made.length && { tool_calls: made }) };
}

await serveAgent(chat, 'openai-chat', {
  from: import.meta.url, package: 'openai', label: 'openai (JavaScript), chat', url: 'https://github.com/openai/openai-node',
});
