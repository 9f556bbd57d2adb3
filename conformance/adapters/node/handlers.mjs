import { read } from './input.mjs';
import { message, plain } from './langchain.mjs';
import { runLoop, runTools } from './loop.mjs';
import { scriptedModel, scriptedTools, scriptedVerifier } from './script.mjs';
import { copying, inCallOrder, requirePaired } from './universal.mjs';
import { buildMessages, escapeXml, serializeThreadToXml } from './threadspec.mjs';

/** What the adapter does for each op of the protocol. */
export const handlers = {
  escape: (input, profile) => escapeXml(read.escape(input).text, profile),

  serialize(input, profile) {
    const { events, ...options } = read.serialize(input);
    return serializeThreadToXml(events, { ...options, profile });
  },

  messages(input, profile) {
    const { events, ...options } = read.messages(input);
    return buildMessages(events, { ...options, profile }).map(plain);
  },

  async tools(input, profile) {
    const universal = profile === 'universal';
    const options = read.tools(universal ? inCallOrder(input) : input);
    if (universal) requirePaired(options.messages);
    const { model, requests } = scriptedModel(options.model);
    const given = options.messages.map(message);
    const run = { ...options, messages: given, tools: scriptedTools(options.tools) };
    const described = () => requests.map((request) => request.map(plain));
    if (!universal) {
      const messages = await runTools({ ...run, profile, model });
      return { requests: described(), messages: messages.map(plain) };
    }
    const copies = [];
    const messages = await runTools({ ...run, profile: 'hardened', model: copying(model, copies) });
    return { requests: copies, messages: messages.map(plain), given: given.map(plain), requestsAtEnd: described() };
  },

  async loop(input, profile) {
    const options = read.loop(input);
    const { model, requests } = scriptedModel(options.model);
    const outcome = await runLoop({
      ...options, profile, model, tools: scriptedTools(options.tools), verify: scriptedVerifier(options.verify),
    });
    return { requests: requests.map((request) => request.map(plain)), ...outcome };
  },
};
