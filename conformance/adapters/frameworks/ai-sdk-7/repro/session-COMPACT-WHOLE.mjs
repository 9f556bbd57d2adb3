// `pruneMessages` takes the calls and answers of older responses and leaves their texts: "I look at the sign." stands there as if nothing had
// come of it, and teaches the model to announce calls that it does not make. Exit code 1 if so.
// Announced: yes; its reference says that it prunes "tool-call, tool-result, and tool-approval chunks" and removes messages without content.
import assert from 'node:assert/strict';
import { pruneMessages } from 'ai';

const round = (id, text) => [
  { role: 'assistant', content: [{ type: 'text', text }, { type: 'tool-call', toolCallId: id, toolName: 'sign', input: {} }] },
  { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName: 'sign', output: { type: 'text', value: 'open 10 to 18' } }] },
  { role: 'assistant', content: 'From ten to six.' },
];
const messages = [
  { role: 'user', content: 'Is it open today?' }, ...round('c1', 'I look at the sign.'),
  { role: 'user', content: 'And tomorrow?' }, ...round('c2', 'I look again.'),
  { role: 'user', content: 'And on Sunday?' },
];
const pruned = pruneMessages({ messages, toolCalls: 'before-last-4-messages', emptyMessages: 'remove' });
console.log(JSON.stringify(pruned, undefined, 1));
const first = JSON.stringify(pruned).includes('I look at the sign.');
assert.equal(first, JSON.stringify(pruned).includes('"c1"'), 'a response is cut in two');
