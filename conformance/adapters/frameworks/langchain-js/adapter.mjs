// LangChain's `createAgent` behind op `tools`.

import { AIMessage, createAgent, HumanMessage, SystemMessage, tool, ToolMessage } from 'langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { GraphRecursionError } from '@langchain/langgraph';
import { serve } from '../shared/testee.mjs';

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
  const agent = createAgent({ model: new ScriptedModel(run), tools });
  run.given = run.messages.map(toLangChain);
  // A round is two steps of the graph, the model's and the tools'.
  const options = { recursionLimit: 2 * run.rounds + 1, streamMode: 'values' };
  try {
    // The state after each step, kept in case the run ends with an exception.
    for await (const state of await agent.stream({ messages: run.given }, options)) run.final = state.messages;
  } catch (error) {
    if (!(error instanceof GraphRecursionError)) throw error;
  }
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
