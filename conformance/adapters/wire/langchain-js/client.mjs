// LangChain's `createAgent` on its provider packages, over the wire.

import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI, ChatOpenAICompletions } from '@langchain/openai';
import { AIMessage, createAgent, HumanMessage, modelCallLimitMiddleware, SystemMessage, tool, ToolMessage } from 'langchain';
import { ANY_ARGUMENTS, serveOverWire, UNLIMITED } from '../shared/wire.mjs';

// It counts the tokens of streams by itself, with a tokenizer that it downloads.
ChatOpenAICompletions.prototype.getNumTokens = async () => 0;

function chatModel({ api, baseUrl, apiKey, model, stream: streaming }) {
  if (api === 'anthropic') return new ChatAnthropic({ model, apiKey, anthropicApiUrl: baseUrl, streaming });
  return new ChatOpenAI({ model, apiKey, configuration: { baseURL: baseUrl }, streaming, useResponsesApi: api === 'openai-responses' });
}

async function run(run) {
  const tools = run.tools.map((name) => tool(
    (args, runtime) => run.result(name, args, runtime.toolCallId ?? runtime.toolCall?.id),
    { name, description: 'A scripted tool.', schema: ANY_ARGUMENTS },
  ));
  const middleware = run.limit === undefined ? [] : [modelCallLimitMiddleware({ runLimit: run.rounds + 1 })];
  const agent = createAgent({ model: chatModel(run.endpoint), tools, middleware });
  run.given = run.messages.map(toLangChain);
  // The state after each step, kept in case the run ends with an exception.
  const states = await agent.stream({ messages: run.given }, { recursionLimit: 5 * UNLIMITED, streamMode: 'values' });
  for await (const { messages } of states) run.final = messages;
}

function toLangChain({ type, content, tool_calls = [], tool_call_id }) {
  if (type === 'ai') return new AIMessage({ content, tool_calls: tool_calls.map((call) => ({ ...call, type: 'tool_call' })) });
  if (type === 'tool') return new ToolMessage({ content, tool_call_id });
  return type === 'system' ? new SystemMessage(content) : new HumanMessage(content);
}

const describe = (messages) => messages.map(({ type, content, tool_calls, tool_call_id }) => ({
  type,
  content: typeof content === 'string' ? content : content.map((block) => block.text ?? '').join(''),
  ...(tool_calls?.length && { tool_calls: tool_calls.map(({ id, name, args }) => ({ id, name, args })) }),
  ...(type === 'tool' && { tool_call_id }),
}));

const apis = ['openai-chat', 'openai-responses', 'anthropic'];
await serveOverWire({
  run, describe, apis, from: import.meta.url, package: 'langchain', label: 'LangChain (JavaScript)', url: 'https://github.com/langchain-ai/langchainjs',
});
