// The AI SDK's `generateText` and `streamText` on its provider packages, over the wire.

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { describe, describeForOpenAI, toModelMessages } from '../../frameworks/shared/ai-sdk.mjs';
import { ANY_ARGUMENTS, serveOverWire } from '../shared/wire.mjs';

const URL = 'https://github.com/vercel/ai';

function languageModel({ api, baseUrl: baseURL, apiKey, model }) {
  // This client adds no `/v1` of its own.
  if (api === 'anthropic') return createAnthropic({ baseURL: `${baseURL}/v1`, apiKey })(model);
  const openai = createOpenAI({ baseURL, apiKey });
  return api === 'openai-chat' ? openai.chat(model) : openai.responses(model);
}

async function run(run) {
  const tools = Object.fromEntries(run.tools.map((name) => [name, tool({
    inputSchema: jsonSchema(ANY_ARGUMENTS),
    execute: async (args, { toolCallId }) => run.result(name, args, toolCallId),
  })]));
  if (run.endpoint.api !== 'anthropic') run.describe = describeForOpenAI;
  run.given = toModelMessages(run.messages);
  run.final = run.given;
  const options = {
    model: languageModel(run.endpoint), messages: run.given, allowSystemInMessages: true, tools, stopWhen: stepCountIs(run.rounds + 1),
    onStepEnd: (step) => { run.final = [...run.final, ...step.response.messages]; },
  };
  if (!run.endpoint.stream) {
    run.final = [...run.given, ...(await generateText(options)).responseMessages];
    return;
  }
  const result = streamText({ ...options, onError: ({ error }) => { run.failure = error.message; } });
  await result.consumeStream();
  if (!run.failure) run.final = [...run.given, ...await result.responseMessages];
}

const apis = ['openai-chat', 'openai-responses', 'anthropic'];
await serveOverWire({ run, describe, apis, from: import.meta.url, package: 'ai', label: 'Vercel AI SDK 7', url: URL });
