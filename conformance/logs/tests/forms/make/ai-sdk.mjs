// Has both conversations with the AI SDK: its OpenTelemetry spans go to the recorder at RECORDER as OTLP JSON, its UI messages to standard output.
import { createOpenAI } from "@ai-sdk/openai";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { convertToModelMessages, jsonSchema, readUIMessageStream, stepCountIs, streamText, tool } from "ai";

const story = JSON.parse(process.env.STORY);
const processor = new BatchSpanProcessor(new OTLPTraceExporter({ url: `${process.env.RECORDER}/v1/traces` }), { maxExportBatchSize: 512, scheduledDelayMillis: 600_000 });
new NodeTracerProvider({ spanProcessors: [processor] }).register();

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY });
const get_weather = tool({
  description: story.description,
  inputSchema: jsonSchema(story.parameters),
  execute: async ({ city, station }) => {
    if (city === "Oslo" && !station) throw new Error("station offline");
    return { Paris: "18 °C, clear", Oslo: "4 °C, rain", Lyon: "21 °C, windy" }[city];
  },
});

const conversations = [];
for (const [number, { texts, image }] of story.openings.entries()) {
  const messages = [];
  for (const [index, text] of texts.entries()) {
    const picture = image && index === 0 ? [{ type: "file", mediaType: "image/png", url: image }] : [];
    messages.push({ id: `message-${number}-${messages.length}`, role: "user", parts: [{ type: "text", text }, ...picture] });
    const result = streamText({
      model: openai.chat(story.model),
      system: story.system,
      messages: await convertToModelMessages(messages),
      tools: { get_weather },
      stopWhen: stepCountIs(9),
      experimental_telemetry: { isEnabled: true, functionId: "weather", metadata: { sessionId: `session-${number}` } },
    });
    let answer;
    const stream = result.toUIMessageStream({ originalMessages: messages, generateMessageId: () => `message-${number}-${messages.length}` });
    for await (const message of readUIMessageStream({ stream })) answer = message;
    messages.push(answer);
  }
  conversations.push(messages);
}
await processor.forceFlush();
console.log(JSON.stringify(conversations));
