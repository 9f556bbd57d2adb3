// A call waits for approval, the user writes on, and then approves it. The request that carries out this late decision is made of what was
// before: the user's message and the answer to it are missing from it, and stand elsewhere afterwards. Exit code 1 if so.
// Announced: in part; the guide to human-in-the-loop says that tools "remain suspended until an explicit approval or decline".
import assert from 'node:assert/strict';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { z } from 'zod';

const sent = [];
const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = sent.push(prompt) === 1 ? ['pay'] : [];
    const parts = calls.map((name) => ({ type: 'tool-call', toolCallId: `c-${name}`, toolName: name, input: '{}' }));
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    const finishReason = { unified: calls.length ? 'tool-calls' : 'stop' };
    return { content: [{ type: 'text', text: 'I see.' }, ...parts], finishReason, usage, warnings: [] };
  },
};
const executed = [];
const named = (id, requireApproval) => createTool({
  id, description: id, inputSchema: z.object({}), requireApproval, execute: async () => `result ${executed.push(id)}`,
});
const storage = new LibSQLStore({ id: 'storage', url: ':memory:' });
const tools = { pay: named('pay', true) };
const agent = new Agent({ id: 'agent', name: 'agent', instructions: '', model, tools, memory: new Memory({ storage }) });
new Mastra({ storage, agents: { agent }, logger: false });
const memory = { thread: 'thread', resource: 'user' };

const { runId } = await agent.generate('Pay', { memory });
await agent.generate('What would that cost?', { memory });
await agent.approveToolCallGenerate({ runId, toolCallId: 'c-pay', memory });
const said = (prompt) => prompt.map(({ role, content }) => [role, ...content].map((part) => part.text ?? part.toolCallId ?? part).join(' '));
console.log('executed:', executed, 'requests:', sent.map(said));
assert.ok(JSON.stringify(sent[2]).includes('What would that cost?'), 'the message of the user is missing');
