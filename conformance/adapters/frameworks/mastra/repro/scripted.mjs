// The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file.
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { Mastra } from '@mastra/core';
import { LibSQLStore } from '@mastra/libsql';

const sent = [];
const turns = [];
const model = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = turns[sent.push(prompt) - 1] ?? [];
    const content = calls.map(([toolCallId, toolName, input]) => ({ type: 'tool-call', toolCallId, toolName, input }));
    const finishReason = { unified: calls.length ? 'tool-calls' : 'stop' };
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    return { content: calls.length ? content : [{ type: 'text', text: 'Done' }], finishReason, usage, warnings: [] };
  },
};
const talking = {
  specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doGenerate({ prompt }) {
    const calls = turns[sent.push(prompt) - 1] ?? [];
    const parts = calls.map((name) => ({ type: 'tool-call', toolCallId: `c-${name}`, toolName: name, input: '{}' }));
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    const finishReason = { unified: calls.length ? 'tool-calls' : 'stop' };
    return { content: [{ type: 'text', text: 'I see.' }, ...parts], finishReason, usage, warnings: [] };
  },
};
const named = (id, result) => createTool({ id, description: id, inputSchema: z.looseObject({}), execute: async () => result });
export { Agent, createTool, LibSQLStore, Mastra, model, named, sent, talking, turns, z };
