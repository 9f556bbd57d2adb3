// An agent with one tool, over fetch. `trim` makes the list that is sent.
export async function run(provider, trim = (messages) => messages) {
  const messages = [{ role: "user", content: "Go" }];
  for (;;) {
    const message = await ask(provider, trim(messages));
    messages.push(message);
    if (!message.tool_calls) return message.content;
    for (const call of message.tool_calls) messages.push({ role: "tool", tool_call_id: call.id, content: "3" });
  }
}

async function ask({ openaiUrl, key }, messages) {
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const answer = await fetch(`${openaiUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4.1", messages, tools }),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error.message);
  return said.choices[0].message;
}

export const script = [{ content: "I look.", tool_calls: [{ name: "look", args: { n: 1 } }] }, { content: "Done" }];
export const withoutToolMessages = (messages) => messages.filter((message) => message.role !== "tool");
