// The history is limited to less than the system message needs. The run is stopped before the model is asked, and the user's message is not
// stored: "System messages alone exceed token limit. Requests cannot be completed by removing system messages." Exit code 1 if so.
// Announced: yes; the reference of TokenLimiterProcessor says that it throws a `TripWire` then.
import assert from 'node:assert/strict';
import { TokenLimiterProcessor } from '@mastra/core/processors';
import { Agent, sent } from './scripted.mjs';

const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    sent.push(prompt);
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    return { content: [{ type: 'text', text: 'Hi.' }], finishReason: { unified: 'stop' }, usage, warnings: [] };
  },
};
const inputProcessors = [new TokenLimiterProcessor({ limit: 10 })];
const agent = new Agent({ id: 'agent', name: 'agent', instructions: 'Use the tools that you have, and say what you found.', model, inputProcessors });
const { tripwire } = await agent.generate('Is it open today?');
console.log(tripwire?.reason, 'requests:', sent.length);
assert.equal(sent.length, 1, 'the model was not asked');
