// node crosscheck.mjs COMMAND [ARGUMENT…]
//
// Checks the forms that COMMAND writes (the example `wire` of this repository) against LangChain: every list of messages
// in the corpus must load from its stored form, be the same messages, and convert to the same OpenAI form. So the corpus
// describes messages that exist.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

import { mapStoredMessagesToChatMessages } from '@langchain/core/messages';
import { convertMessagesToCompletionsMessageParams } from '@langchain/openai';

import { plain } from './langchain.mjs';

const GOLDEN = new URL('../../../golden/', import.meta.url);
const MATCHERS = ['lines', 'includes', 'any', 'literally'];
const TYPES = ['system', 'human', 'ai', 'tool'];

const isObject = (value) => typeof value === 'object' && value !== null;
const isMatcher = (value) => Object.keys(value).length === 1 && MATCHERS.includes(Object.keys(value)[0]);
const isTemplate = (value) => Object.hasOwn(value, 'concat') || Object.hasOwn(value, 'repeat');
const isConcrete = (value) => !isObject(value) || (!isMatcher(value) && !isTemplate(value) && Object.values(value).every(isConcrete));
const isMessage = (value) => isObject(value) && TYPES.includes(value.type) && typeof value.content === 'string';

// The command reads a lone surrogate as U+FFFD.
const wellFormed = (_, value) => (typeof value === 'string' ? value.toWellFormed() : value);

/** The lists of messages anywhere in `value`, those with matchers or templates left out. */
function* messageLists(value) {
  if (!isObject(value)) return;
  if (Array.isArray(value) && value.length > 0 && value.every(isMessage)) {
    if (isConcrete(value)) yield value;
  } else {
    for (const member of Object.values(value)) yield* messageLists(member);
  }
}

/** The lists of messages in the corpus, each once. */
function corpus() {
  const files = readdirSync(GOLDEN, { recursive: true }).filter((name) => name.endsWith('.json') && !name.startsWith('agent'));
  const lists = files.flatMap((name) => {
    const { op, cases } = JSON.parse(readFileSync(new URL(name, GOLDEN)), wellFormed);
    // The registry and the manifest lie beside the cases.
    if (op === undefined) return [];
    return cases.filter(({ expect }) => !expect.reject)
      .flatMap(({ input, input_json: text, expect }) => {
        if (op !== 'tools') return [...messageLists(expect)];
        const { messages } = input ?? JSON.parse(text, wellFormed);
        return [...messageLists(expect), ...messageLists(messages)];
      });
  });
  return [...new Set(lists.map((list) => JSON.stringify(list)))];
}

const [command, ...args] = process.argv.slice(2);
if (command === undefined) throw new Error('usage: node crosscheck.mjs COMMAND [ARGUMENT…]');
const lists = corpus();
assert.notEqual(lists.length, 0, 'no list of messages was found');
const output = execFileSync(command, args, { input: `${lists.join('\n')}\n`, encoding: 'utf8', maxBuffer: Infinity });
const forms = output.trimEnd().split('\n').map((line) => JSON.parse(line));
assert.equal(forms.length, lists.length, 'one line for each list');

const readArguments = (messages) => messages.map(({ tool_calls, ...message }) => ({
  ...message,
  ...(tool_calls && {
    tool_calls: tool_calls.map((call) => ({ ...call, function: { ...call.function, arguments: JSON.parse(call.function.arguments) } })),
  }),
}));

// Ids and names that OpenAI refuses are replaced on our side only, and so is an id that comes again.
const isFit = (messages) => {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls);
  const ids = calls.map(({ id }) => id);
  return new Set(ids).size === ids.length
    && [...ids, ...messages.flatMap(({ tool_call_id = [] }) => tool_call_id)].every((id) => id.length > 0 && id.length <= 40)
    && calls.every(({ name }) => /^[a-zA-Z0-9_-]{1,64}$/.test(name));
};
let converted = 0;
lists.forEach((list, index) => {
  const { langchain, openai } = forms[index];
  const messages = mapStoredMessagesToChatMessages(langchain);
  assert.deepEqual(messages.map(plain), JSON.parse(list).map(plain), `loaded from the stored form of ${list}`);
  if (!isFit(JSON.parse(list))) return;
  converted += 1;
  assert.deepEqual(readArguments(openai), readArguments(convertMessagesToCompletionsMessageParams({ messages })), `the OpenAI form of ${list}`);
});
console.log(`${lists.length} lists of messages compared with @langchain/core, ${converted} with @langchain/openai`);
