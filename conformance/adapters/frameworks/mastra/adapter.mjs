// Mastra's `Agent.generate` behind op `tools`.

process.env.MASTRA_TELEMETRY_DISABLED = '1';

const { Agent } = await import('@mastra/core/agent');
const { createTool } = await import('@mastra/core/tools');
const { z } = await import('zod');
const { describe, scriptedModel, toModelMessages } = await import('../shared/ai-sdk.mjs');
const { serve } = await import('../shared/testee.mjs');

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
  const agent = new Agent({ id: 'agent', name: 'agent', instructions: '', model: scriptedModel(run, 'v3'), tools, maxRetries: 0 });
  run.given = toModelMessages(run.messages);
  let failed;
  const result = await agent.generate(run.given, { maxSteps: run.rounds + 1, onError: ({ error }) => { failed = error; } });
  run.final = [...run.given, ...result.response.messages];
  if (failed ?? result.error) throw failed ?? result.error;
}

await serve({ run, describe, from: import.meta.url, package: '@mastra/core', label: 'Mastra', url: 'https://github.com/mastra-ai/mastra' });
