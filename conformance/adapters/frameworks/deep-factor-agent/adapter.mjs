// node adapter.mjs CHECKOUT: deep-factor-agent, from a checkout of its repository that was built, behind the profile `literal`.
// It has `escape`, `serialize`, `messages` (of its private builders) and `loop`; rounds alone (`tools`) cannot be run.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Reject, serve } from '../../node/protocol.mjs';
import { scriptedModel, scriptedTools, scriptedVerifier } from '../../node/script.mjs';

const checkout = process.argv[2] ?? process.env.DEEP_FACTOR_AGENT;
if (!checkout) stop('usage: node adapter.mjs CHECKOUT, a checkout of deep-factor-agent that was built');
const home = resolve(checkout, 'packages/deep-factor-agent');
if (!existsSync(home)) stop(`${home} is not there: ${checkout} is no checkout of deep-factor-agent`);
if (!existsSync(`${home}/dist/index.js`)) stop(`${home}/dist is not there; build it: npm install --legacy-peer-deps && npx tsc`);
// The libraries of the checkout: it would not know the messages of another copy of LangChain.
const required = createRequire(`${home}/package.json`);
const load = (path) => import(pathToFileURL(path));

const { DeepFactorAgent, createLangChainTool, escapeXml, maxIterations, serializeThreadToXml } = await load(`${home}/dist/index.js`);
const { AIMessage } = await load(required.resolve('@langchain/core/messages'));
const { z } = required('zod');
const commit = spawnSync('git', ['-C', checkout, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() || 'unknown';

const thread = (events) => ({ id: 'thread', events, metadata: {}, createdAt: 0, updatedAt: 0 });

const plain = (messages) => messages.map(({ type, content, tool_calls, tool_call_id }) => ({
  type,
  content,
  ...(tool_calls?.length && { tool_calls: tool_calls.map(({ id, name, args }) => ({ id, name, args })) }),
  ...(tool_call_id !== undefined && { tool_call_id }),
}));

function messages({ events, contextMode = 'standard', instructions = '' }) {
  if (!['standard', 'xml'].includes(contextMode)) throw new Reject('invalid-input', 'unknown contextMode');
  const agent = new DeepFactorAgent({ model: {}, instructions });
  return plain(contextMode === 'xml' ? agent.buildXmlMessages(thread(events)) : agent.buildMessages(thread(events)));
}

async function loop(script) {
  const requests = [];
  const { model: answer } = scriptedModel(script.model);
  const model = {
    bindTools: () => model,
    // Each request is described at once: the agent goes on with the same list.
    async invoke(request) {
      requests.push(plain(request));
      const { content = '', tool_calls = [] } = await answer(request);
      return new AIMessage({ content, tool_calls: tool_calls.map(({ id, name, args }) => ({ id, name, args: args ?? {}, type: 'tool_call' })) });
    },
  };
  const tools = [...scriptedTools(new Map(Object.entries(script.tools ?? {})))].map(([name, execute]) => (
    createLangChainTool(name, { description: 'A scripted tool.', schema: z.looseObject({}), execute })));
  const agent = new DeepFactorAgent({
    model,
    tools,
    instructions: script.instructions ?? '',
    contextMode: script.contextMode ?? 'standard',
    verifyCompletion: scriptedVerifier(script.verify ?? undefined),
    stopWhen: script.maxIterations == null ? [] : [maxIterations(script.maxIterations)],
    maxToolCallsPerIteration: script.maxToolCallsPerIteration ?? undefined,
  });
  const { thread: { events }, response, iterations, stopReason } = await agent.loop(script.prompt);
  return { requests, events, response, iterations, stopReason };
}

/** The code has no checks of its own: whatever it throws on a wrong input counts as a refusal. */
const refusing = (handler) => async (input) => {
  try {
    return await handler(input);
  } catch (error) {
    throw error instanceof Reject ? error : new Reject('invalid-input', error.message);
  }
};

const handlers = {
  escape: ({ text }) => escapeXml(text),
  serialize: ({ events, responsePrefix }) => serializeThreadToXml(events, { assistantPrefill: responsePrefix }),
  messages,
  loop,
};
await serve({
  implementation: { name: 'deep-factor-agent', version: commit, language: 'TypeScript', url: 'https://github.com/ryaneggz/deep-factor-agent' },
  handlers: Object.fromEntries(Object.entries(handlers).map(([op, handler]) => [op, refusing(handler)])),
});

function stop(why) {
  console.error(why);
  process.exit(2);
}
