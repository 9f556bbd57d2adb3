// Mastra's `Agent.generate` behind op `session`: `Memory` over a `LibSQLStore`, tools that require approval, its processors.

process.env.MASTRA_TELEMETRY_DISABLED = '1';

const { Mastra } = await import('@mastra/core/mastra');
const { Agent } = await import('@mastra/core/agent');
const { TokenLimiterProcessor } = await import('@mastra/core/processors');
const { createTool } = await import('@mastra/core/tools');
const { LibSQLStore } = await import('@mastra/libsql');
const { Memory } = await import('@mastra/memory');
const { z } = await import('zod');
const { describeSession, scriptedModel } = await import('../shared/ai-sdk.mjs');
const { imageOf, serveSessions } = await import('../shared/session.mjs');
const { UNLIMITED } = await import('../shared/testee.mjs');

const THREAD = { thread: 'thread', resource: 'user' };

async function open(session) {
  let current;
  const tools = Object.fromEntries(session.toolsOf().map(({ name, approval }) => [name, createTool({
    id: name,
    description: 'A scripted tool.',
    inputSchema: z.looseObject({}),
    requireApproval: approval,
    execute: async (args, context) => current.call(name, args, context?.agent?.toolCallId),
    toModelOutput,
  })]));
  const storage = new LibSQLStore({ id: 'storage', url: `file:${session.storage}/mastra.db` });
  // All messages: by default it remembers ten.
  const memory = new Memory({ storage, options: { lastMessages: UNLIMITED } });
  const model = scriptedModel({ ask: (prompt) => current.ask(prompt) }, 'v3');
  const agent = new Agent({ id: 'agent', name: 'agent', instructions: session.system ?? '', model, tools, memory, maxRetries: 0 });
  new Mastra({ storage, agents: { agent }, logger: false });

  /** The pending calls of the thread, each with the run that waits for it. */
  async function pending() {
    const { runs } = await agent.listSuspendedRuns({ threadId: THREAD.thread, resourceId: THREAD.resource });
    return runs.flatMap(({ runId, toolCalls }) => toolCalls.map(({ toolCallId }) => ({ runId, toolCallId })));
  }

  async function begin({ message, decisions }, options) {
    if (message !== undefined) return agent.generate(message, options);
    // It asks about one call at a time.
    const open = new Map(Object.entries(decisions));
    let result;
    for (let calls; (calls = (await pending()).filter(({ toolCallId }) => open.has(toolCallId))).length;) {
      const { approve, reason } = open.get(calls[0].toolCallId);
      open.delete(calls[0].toolCallId);
      result = await (approve ? agent.approveToolCallGenerate({ ...options, ...calls[0] }) : agent.declineToolCallGenerate({ ...options, ...calls[0], reason }));
    }
    if (!result) throw new Error('no suspended run of this thread waits for these calls');
    return result;
  }

  return async (run) => {
    current = run;
    const { keepMessages, tokens } = run.compact ?? {};
    let failed;
    try {
      const result = await begin(run, {
        memory: { ...THREAD, ...(keepMessages !== undefined && { options: { lastMessages: keepMessages } }) },
        ...(tokens !== undefined && { inputProcessors: [new TokenLimiterProcessor({ limit: tokens })] }),
        maxSteps: run.rounds + 1,
        abortSignal: run.signal,
        onError: ({ error }) => { failed = error; },
      });
      if (failed ?? result.error) throw failed ?? result.error;
      // How a processor says that it stopped the run.
      if (result.tripwire) throw new Error(result.tripwire.reason);
    } finally {
      run.pending = (await pending()).map(({ toolCallId }) => toolCallId);
    }
  };
}

function toModelOutput(output) {
  const image = imageOf(output);
  if (!image) return undefined;
  const text = image.text ? [{ type: 'text', text: image.text }] : [];
  return { type: 'content', value: [...text, { type: 'media', data: image.data, mediaType: image.mediaType }] };
}

await serveSessions({
  open, describe: describeSession, features: ['error', 'cancel', 'kill', 'limit', 'approval', 'compact', 'opaque', 'raw', 'image'], saves: 'run',
  from: import.meta.url, package: '@mastra/core', label: 'Mastra', url: 'https://github.com/mastra-ai/mastra',
});
