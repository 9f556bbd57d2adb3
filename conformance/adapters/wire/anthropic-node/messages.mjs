// An agent on the official `@anthropic-ai/sdk` package.

import Anthropic from '@anthropic-ai/sdk';
import { Refused, serveAgent } from '../shared/agent.mjs';
import { ANY_ARGUMENTS } from '../shared/wire.mjs';

const ROLES = { human: 'user', ai: 'assistant' };

function claude({ baseUrl, apiKey, model, stream, reasoning }, names) {
  const { messages: api } = new Anthropic({ baseURL: baseUrl, apiKey });
  const tools = names.map((name) => ({ name, input_schema: ANY_ARGUMENTS }));
  const thinking = { thinking: { type: 'enabled', budget_tokens: 2048 } };
  const options = { model, max_tokens: 8192, ...(reasoning && thinking), ...(tools.length && { tools }) };

  return {
    items({ type, content, tool_calls: calls = [] }) {
      const uses = calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args ?? {} }));
      return said(ROLES[type] ?? 'system', [{ type: 'text', text: content }, ...uses]);
    },

    answers: (pairs) => said('user', pairs.map(([id, content]) => ({ type: 'tool_result', tool_use_id: id, content }))),

    async ask(items) {
      const system = items.filter(({ role }) => role === 'system').flatMap(({ content }) => content);
      const request = { ...options, messages: items.filter(({ role }) => role !== 'system'), ...(system.length && { system }) };
      const { content, stop_reason: reason } = stream ? await api.stream(request).finalMessage() : await api.create(request);
      if (reason == null) throw new Refused('the stream ended in the middle');
      return {
        text: content.filter(({ type }) => type === 'text').map(({ text }) => text).join(''),
        calls: content.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => ({ id, name, arguments: input })),
        items: said('assistant', content),
        cutOff: reason === 'max_tokens',
      };
    },
  };
}

/** A message, if anything is said in it: the API takes no empty text. */
function said(role, content) {
  const blocks = content.filter(({ type, text }) => type !== 'text' || text.trim());
  return blocks.length ? [{ role, content: blocks }] : [];
}

await serveAgent(claude, 'anthropic', {
  from: import.meta.url, package: '@anthropic-ai/sdk', label: '@anthropic-ai/sdk (JavaScript)', url: 'https://github.com/anthropics/anthropic-sdk-typescript',
});
