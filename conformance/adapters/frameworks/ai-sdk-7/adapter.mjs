// The AI SDK's `generateText` (argument `generate`) and `streamText` (argument `stream`) behind op `tools`.

import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { describe, scriptedModel, toModelMessages } from '../shared/ai-sdk.mjs';
import { serve } from '../shared/testee.mjs';

const ANY_ARGUMENTS = jsonSchema({ type: 'object', additionalProperties: true });
const mode = process.argv[2];

async function run(run) {
  const tools = Object.fromEntries(run.tools.map((name) => [name, tool({
    description: 'A scripted tool.',
    inputSchema: ANY_ARGUMENTS,
    execute: async (args, { toolCallId }) => run.result(name, args, toolCallId),
  })]));
  run.given = toModelMessages(run.messages);
  const options = {
    model: scriptedModel(run, 'v4'),
    messages: run.given,
    allowSystemInMessages: true,
    tools,
    stopWhen: stepCountIs(run.rounds + 1),
    // Kept in case the run ends with an exception.
    onStepEnd: (step) => { run.final = [...run.final, ...step.response.messages]; },
  };
  run.final = run.given;
  if (mode === 'generate') {
    const { responseMessages } = await generateText(options);
    run.final = [...run.given, ...responseMessages];
  } else {
    let failed;
    const result = streamText({ ...options, onError: ({ error }) => { failed = error; } });
    await result.consumeStream();
    if (failed) throw failed;
    run.final = [...run.given, ...await result.responseMessages];
  }
}

await serve({ run, describe, from: import.meta.url, package: 'ai', label: `AI SDK ${mode}Text`, url: 'https://github.com/vercel/ai' });
