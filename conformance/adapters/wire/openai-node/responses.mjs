// An agent on the official `openai` package, Responses.

import OpenAI from 'openai';
import { Refused, serveAgent } from '../shared/agent.mjs';
import { ANY_ARGUMENTS } from '../shared/wire.mjs';

const ROLES = { system: 'system', human: 'user', ai: 'assistant' };

function responses({ baseUrl, apiKey, model, stream, reasoning }, names) {
  const { responses: api } = new OpenAI({ baseURL: baseUrl, apiKey });
  const tools = names.map((name) => ({ type: 'function', name, parameters: ANY_ARGUMENTS, strict: false }));
  // Nothing is stored: what the model thought comes back as it cannot be read.
  const thinking = { reasoning: { effort: 'medium' }, include: ['reasoning.encrypted_content'] };
  const options = { model, store: false, ...(reasoning && thinking), ...(tools.length && { tools }) };

  return {
    items({ type, content, tool_calls: calls = [] }) {
      const text = content || !calls.length ? [{ role: ROLES[type], content }] : [];
      return [...text, ...calls.map(({ id, name, args }) => (
        { type: 'function_call', call_id: id, name, arguments: JSON.stringify(args ?? {}) }))];
    },

    answers: (pairs) => pairs.map(([id, output]) => ({ type: 'function_call_output', call_id: id, output })),

    async ask(input) {
      const { status, error, output } = stream
        ? await api.stream({ input, ...options }).finalResponse()
        : await api.create({ input, ...options });
      if (status !== 'completed' && status !== 'incomplete') throw new Refused(`the response is ${status}: ${error?.message}`);
      const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content);
      return {
        text: parts.map((part) => part.text ?? part.refusal).join(''),
        calls: output.filter(({ type }) => type === 'function_call').map(({ call_id: id, name, arguments: args }) => ({ id, name, arguments: args })),
        items: output.map(({ parsed_arguments: parsed, ...item }) => item),
        cutOff: status === 'incomplete',
      };
    },
  };
}

await serveAgent(responses, 'openai-responses', {
  from: import.meta.url, package: 'openai', label: 'openai (JavaScript), Responses', url: 'https://github.com/openai/openai-node',
});
