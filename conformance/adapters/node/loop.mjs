// The agent around the messages: tool rounds inside one iteration, and the outer iterations.
//
// `model` takes the messages and resolves to `{content, tool_calls}`, or throws; `tools` is a Map from name to a function
// of the arguments, which returns a JSON value or throws; `verify` takes the response and resolves to `{complete, reason?}`.

import { ai, buildMessages, resultText, tool } from './threadspec.mjs';

async function callTool(tools, { name, args }) {
  if (!tools.has(name)) return `Tool not found: "${name}"`;
  let result;
  try {
    result = await tools.get(name)(args);
  } catch (error) {
    result = `Tool error: ${error.message}`;
  }
  // A tool can cut its output in the middle of a surrogate pair.
  return resultText(result).toWellFormed();
}

/**
 * Gives each call of a response an id of its own: the first keeps the id, a later one gets the first free `<id>_2`, `<id>_3`, …
 * `ids` is the Set of the thread's ids, which grows by those of the response.
 */
function withDistinctIds(turn, ids) {
  for (const { id } of turn.tool_calls) ids.add(id);
  const used = new Map();
  const tool_calls = turn.tool_calls.map((call) => {
    let number = (used.get(call.id) ?? 0) + 1;
    if (number > 1) while (ids.has(`${call.id}_${number}`)) number++;
    used.set(call.id, number);
    const id = number === 1 ? call.id : `${call.id}_${number}`;
    ids.add(id);
    return { ...call, id };
  });
  return { ...turn, tool_calls };
}

/** Calls the model and its tools until it asks for no more; resolves to all messages. A model that throws ends it too. */
export async function runTools({ messages, model, tools, maxRecursionDepth = Infinity, profile = 'literal' }) {
  const ids = new Set(messages.flatMap((message) => message.tool_calls?.map(({ id }) => id) ?? message.tool_call_id ?? []));
  for (let round = 0; ; round++) {
    let turn;
    try {
      turn = await model(messages);
    } catch {
      return messages;
    }
    if (profile === 'hardened') turn = withDistinctIds(turn, ids);
    // A new array for each request: the model may have kept the last one.
    messages = [...messages, ai(turn.content, turn.tool_calls)];
    if (turn.tool_calls.length === 0) return messages;
    if (round >= maxRecursionDepth) {
      return profile === 'hardened'
        ? [...messages, ...turn.tool_calls.map(({ id }) => tool(id, '[Not executed: limit reached]'))] : messages;
    }
    for (const call of turn.tool_calls) messages.push(tool(call.id, await callTool(tools, call)));
  }
}

/** Iterates until the response is verified or a limit is reached; resolves to the events and how it ended. */
export async function runLoop({
  prompt, contextMode, instructions, model, tools, verify, maxIterations = Infinity, maxToolCallsPerIteration = 20,
  profile = 'literal',
}) {
  const events = [{ type: 'message', role: 'user', content: prompt, iteration: 0 }];
  const ids = new Set();
  let response = '';
  let failures = 0;

  for (let iteration = 1; ; iteration++) {
    const record = (event) => events.push({ ...event, iteration });
    const say = (role, content) => record({ type: 'message', role, content });
    const end = (stopReason) => ({ events, response, iterations: iteration, stopReason });

    let messages = buildMessages(events, { contextMode, instructions, profile });
    let unrecorded = '';
    let failure;
    for (let asked = 0; asked < maxToolCallsPerIteration; asked++) {
      let turn;
      try {
        turn = await model(messages);
      } catch (error) {
        failure = error;
        break;
      }
      if (profile === 'hardened') turn = withDistinctIds(turn, ids);
      response = turn.content;
      unrecorded = response;
      if (turn.tool_calls.length === 0) break;

      messages = [...messages, ai(turn.content, turn.tool_calls)];
      if (profile === 'hardened') {
        if (unrecorded !== '') say('assistant', unrecorded);
        unrecorded = '';
      }
      for (const call of turn.tool_calls) {
        record({ type: 'tool_call', toolName: call.name, toolCallId: call.id, args: call.args });
        const result = await callTool(tools, call);
        record({ type: 'tool_result', toolCallId: call.id, result });
        messages.push(tool(call.id, result));
      }
    }

    if (failure) {
      failures++;
      record({ type: 'error', error: failure.message, recoverable: failures < 3 });
      if (failures === 3) return end('max_errors');
      continue;
    }
    failures = 0;
    if (unrecorded !== '') say('assistant', unrecorded);
    if (iteration >= maxIterations) return end('stop_condition');

    const verdict = verify && await verify(response);
    if (!verdict || verdict.complete) {
      record({ type: 'completion', result: response, verified: verdict !== undefined });
      return end('completed');
    }
    if (verdict.reason) say('user', `Verification failed: ${verdict.reason}. Please try again.`);
  }
}
