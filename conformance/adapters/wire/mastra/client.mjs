// Mastra's `Agent` on the AI SDK's provider packages, over the wire.

process.env.MASTRA_TELEMETRY_DISABLED = '1';

const { createAnthropic } = await import('@ai-sdk/anthropic');
const { createOpenAI } = await import('@ai-sdk/openai');
const { Agent } = await import('@mastra/core/agent');
const { createTool } = await import('@mastra/core/tools');
const { z } = await import('zod');
const { describe, toModelMessages } = await import('../../frameworks/shared/ai-sdk.mjs');
const { serveOverWire } = await import('../shared/wire.mjs');

function languageModel({ api, baseUrl: baseURL, apiKey, model }) {
  // This client adds no `/v1` of its own.
  if (api === 'anthropic') return createAnthropic({ baseURL: `${baseURL}/v1`, apiKey })(model);
  const openai = createOpenAI({ baseURL, apiKey });
  return api === 'openai-chat' ? openai.chat(model) : openai.responses(model);
}

async function run(run) {
  if (new Set(run.tools.map((name) => name.slice(0, 63))).size < run.tools.length) {
    run.cannotTell('the framework takes no tools whose names begin with the same 63 characters');
  }
  const tools = Object.fromEntries(run.tools.map((name) => [name, createTool({
    id: name,
    description: 'A scripted tool.',
    inputSchema: z.looseObject({}),
    execute: async (args, context) => run.result(name, args, context?.agent?.toolCallId),
  })]));
  const agent = new Agent({ id: 'agent', name: 'agent', instructions: '', model: languageModel(run.endpoint), tools });
  run.given = toModelMessages(run.messages);
  let failed;
  const options = { maxSteps: run.rounds + 1, onError: ({ error }) => { failed = error; } };
  let response;
  if (run.endpoint.stream) {
    const result = await agent.stream(run.given, options);
    await result.consumeStream();
    failed ??= await result.error;
    response = await result.response;
  } else {
    const result = await agent.generate(run.given, options);
    failed ??= result.error;
    response = result.response;
  }
  run.final = [...run.given, ...response.messages];
  if (failed) throw failed;
}

const apis = ['openai-chat', 'openai-responses', 'anthropic'];
await serveOverWire({ run, describe, apis, from: import.meta.url, package: '@mastra/core', label: 'Mastra', url: 'https://github.com/mastra-ai/mastra' });
