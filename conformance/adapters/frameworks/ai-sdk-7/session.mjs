// The AI SDK behind op `session`: a chat as `useChat` keeps it (`AbstractChat`), which sends its messages to a `ToolLoopAgent`.

import { AbstractChat, DirectChatTransport, isToolUIPart, jsonSchema, lastAssistantMessageIsCompleteWithApprovalResponses, pruneMessages, stepCountIs, tool, ToolLoopAgent } from 'ai';
import { describeSession, scriptedModel } from '../shared/ai-sdk.mjs';
import { imageOf, serveSessions } from '../shared/session.mjs';

// `jsonSchema` validates only what it is told to.
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const ANY_ARGUMENTS = jsonSchema({ type: 'object', additionalProperties: true }, {
  validate: (value) => (isObject(value) ? { success: true, value } : { success: false, error: new Error('no object') }),
});

/** The chat of `useChat`, without a page: its state is plain values. */
class Chat extends AbstractChat {
  constructor(init) {
    super({
      ...init,
      state: {
        status: 'ready',
        error: undefined,
        messages: [],
        pushMessage(message) { this.messages = [...this.messages, message]; },
        popMessage() { this.messages = this.messages.slice(0, -1); },
        replaceMessage(index, message) { this.messages = this.messages.with(index, message); },
        snapshot: structuredClone,
      },
    });
  }
}

async function open(session) {
  let current;
  const tools = Object.fromEntries(session.toolsOf().map(({ name }) => [name, tool({
    description: 'A scripted tool.',
    inputSchema: ANY_ARGUMENTS,
    execute: (args, { toolCallId }) => current.call(name, args, toolCallId),
    toModelOutput,
  })]));
  const toolApproval = Object.fromEntries(session.toolsOf().filter(({ approval }) => approval).map(({ name }) => [name, 'user-approval']));
  const model = scriptedModel({ ask: (prompt) => current.ask(prompt) }, 'v4');
  const agentOf = ({ rounds, compact }) => new ToolLoopAgent({
    model, tools, toolApproval, instructions: session.system, maxRetries: 0, stopWhen: stepCountIs(rounds + 1),
    prepareStep: ({ messages }) => (compact ? { messages: pruned(messages, compact) } : undefined),
  });
  const chat = new Chat({
    transport: { sendMessages: (request) => new DirectChatTransport({ agent: agentOf(current) }).sendMessages(request) },
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const pending = () => chat.messages.flatMap(({ parts }) => parts).filter((part) => isToolUIPart(part) && part.state === 'approval-requested');

  async function begin({ message, decisions }) {
    if (!decisions) return chat.sendMessage(message === undefined ? undefined : { text: message });
    for (const { toolCallId, approval } of pending().filter((part) => part.toolCallId in decisions)) {
      const { approve, reason } = decisions[toolCallId];
      await chat.addToolApprovalResponse({ id: approval.id, approved: approve, reason });
    }
  }

  return async (run) => {
    current = run;
    if (run.compact?.tokens !== undefined) session.cannotTell('pruneMessages takes no number of tokens');
    run.signal.addEventListener('abort', () => chat.stop());
    chat.clearError();
    try {
      await begin(run);
      while (['submitted', 'streaming'].includes(chat.status)) await new Promise((over) => setTimeout(over, 5));
      if (chat.error) throw chat.error;
    } finally {
      run.pending = pending().map(({ toolCallId }) => toolCallId);
    }
  };
}

const pruned = (messages, { keepMessages }) => pruneMessages({
  messages, toolCalls: `before-last-${keepMessages}-messages`, emptyMessages: 'remove',
});

function toModelOutput({ output }) {
  const image = imageOf(output);
  if (!image) return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output ?? null };
  const text = image.text ? [{ type: 'text', text: image.text }] : [];
  return { type: 'content', value: [...text, { type: 'file', mediaType: image.mediaType, data: { type: 'data', data: image.data } }] };
}

await serveSessions({
  open, describe: describeSession, features: ['error', 'cancel', 'limit', 'resume', 'approval', 'compact', 'opaque', 'raw', 'image'],
  from: import.meta.url, package: 'ai', label: 'AI SDK (chat)', url: 'https://github.com/vercel/ai',
});
