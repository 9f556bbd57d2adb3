// LangChain's `createAgent` behind op `tools`.

import { AIMessage, createAgent, HumanMessage, modelCallLimitMiddleware, SystemMessage, tool, ToolMessage } from 'langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { serve, UNLIMITED } from '../shared/testee.mjs';

const ANY_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: true };

class ScriptedModel extends BaseChatModel {
  constructor(run) {
    // No retries: by default there are six, with longer and longer waits.
    super({ maxRetries: 0 });
    this.run = run;
  }

  _llmType() {
    return 'scripted';
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    const { content, calls } = this.run.ask(messages);
    const message = new AIMessage({ content, tool_calls: calls.map(({ id, name, args }) => ({ id, name, args, type: 'tool_call' })) });
    return { generations: [{ text: content, message }] };
  }
}

async function run(run) {
  const tools = run.tools.map((name) => tool(
    (args, runtime) => run.result(name, args, runtime.toolCallId ?? runtime.toolCall?.id),
    { name, description: 'A scripted tool.', schema: ANY_ARGUMENTS },
  ));
  // A limit is this middleware's; the graph's own counts steps, of which a run without a limit has many.
  const middleware = run.limit === undefined ? [] : [modelCallLimitMiddleware({ runLimit: run.rounds + 1 })];
  const agent = createAgent({ model: new ScriptedModel(run), tools, middleware });
  run.given = run.messages.map(toLangChain);
  const options = { recursionLimit: 5 * UNLIMITED, streamMode: 'values' };
  // The state after each step, kept in case the run ends with an exception.
  for await (const state of await agent.stream({ messages: run.given }, options)) run.final = state.messages;
}

function toLangChain({ type, content, tool_calls = [], tool_call_id }) {
  if (type === 'ai') return new AIMessage({ content, tool_calls: tool_calls.map((call) => ({ ...call, type: 'tool_call' })) });
  if (type === 'tool') return new ToolMessage({ content, tool_call_id });
  return type === 'system' ? new SystemMessage(content) : new HumanMessage(content);
}

const describe = (messages) => messages.map(({ type, content, tool_calls, tool_call_id }) => ({
  type,
  content: typeof content === 'string' ? content : content.map((block) => block.text ?? JSON.stringify(block)).join(''),
  ...(tool_calls?.length && { tool_calls: tool_calls.map(({ id, name, args }) => ({ id, name, args })) }),
  ...(type === 'tool' && { tool_call_id }),
}));

await serve({
  run, describe, from: import.meta.url, package: 'langchain', label: 'LangChain createAgent (JavaScript)',
  url: 'https://github.com/langchain-ai/langchainjs',
});
