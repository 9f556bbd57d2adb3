// Messages: LangChain's own where `@langchain/core` is installed, else plain objects of the same shape.

const core = await import('@langchain/core/messages').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
});

const CLASSES = core && {
  system: core.SystemMessage, human: core.HumanMessage, ai: core.AIMessage, tool: core.ToolMessage,
};

/** The library that makes the messages. */
export const library = core ? '@langchain/core' : 'plain objects';

/** The message that `{type, content, tool_calls?, tool_call_id?}` describes. */
export const message = CLASSES ? ({ type, ...fields }) => new CLASSES[type](fields) : (fields) => fields;

/** A message as the protocol writes it. */
export const plain = ({ type, content, tool_calls, tool_call_id }) => ({
  type,
  content,
  ...(tool_calls?.length > 0 && { tool_calls: tool_calls.map(({ id, name, args }) => ({ id, name, args })) }),
  ...(tool_call_id !== undefined && { tool_call_id }),
});
