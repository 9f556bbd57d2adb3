// A call waits for approval, and the user writes on. That message is answered; but when the user then approves the call, as the page of the
// guide to tool approvals still offers, the chat is dead: this and every later message is refused before the model is asked: "Tool result is
// missing for tool call c1."
// Announced: no. A later message is said to supersede the request (in the code of `convertToModelMessages`). Exit code 1 if so.
import assert from 'node:assert/strict';
import { AbstractChat, DirectChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses as isComplete, ToolLoopAgent } from 'ai';
import { jsonSchema, sent, tool } from './scripted.mjs';

const model = {
  specificationVersion: 'v4', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
  async doStream({ prompt }) {
    const first = sent.push(prompt) === 1;
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: '{}' };
    const text = [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Nothing.' }, { type: 'text-end', id: 't' }];
    const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
    const finish = { type: 'finish', finishReason: { unified: first ? 'tool-calls' : 'stop' }, usage };
    return { stream: ReadableStream.from([{ type: 'stream-start', warnings: [] }, ...(first ? [call] : text), finish]) };
  },
};
const pay = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => 'paid' });
const agent = new ToolLoopAgent({ model, tools: { pay }, toolApproval: { pay: 'user-approval' } });
// What `useChat` keeps, without a page.
const state = {
  status: 'ready', messages: [], snapshot: structuredClone,
  pushMessage(message) { this.messages = [...this.messages, message]; },
  popMessage() { this.messages = this.messages.slice(0, -1); },
  replaceMessage(index, message) { this.messages = this.messages.with(index, message); },
};
class Chat extends AbstractChat {}
const onError = ({ message }) => message;
const chat = new Chat({ state, transport: new DirectChatTransport({ agent, onError }), sendAutomaticallyWhen: isComplete });
await chat.sendMessage({ text: 'Pay' });
const waiting = chat.messages.flatMap(({ parts }) => parts).find((part) => isToolUIPart(part) && part.state === 'approval-requested');
await chat.sendMessage({ text: 'What would that cost?' });
console.log('answered:', chat.messages.at(-1).parts.at(-1).text);
await chat.addToolApprovalResponse({ id: waiting.approval.id, approved: true });
for (const text of ['Then not', 'Hello?']) {
  chat.clearError();
  await chat.sendMessage({ text });
  console.log(text, '→', chat.error?.message);
}
assert.equal(sent.length, 4, 'the model is never asked again');
