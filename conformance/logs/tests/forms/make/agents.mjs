// Has a conversation with the OpenAI Agents SDK, and writes its run state, as a program keeps it while somebody decides about a call, to standard output.
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";

const story = JSON.parse(process.env.STORY);
setTracingDisabled(true);
const get_weather = tool({
  name: "get_weather",
  description: story.description,
  parameters: { ...story.parameters, additionalProperties: true },
  strict: false,
  execute: async ({ city, station }) => {
    if (city === "Oslo" && !station) throw new Error("station offline");
    return { Paris: "18 °C, clear", Oslo: "4 °C, rain" }[city];
  },
});
const model = new OpenAIChatCompletionsModel(new OpenAI(), story.model);
const agent = new Agent({ name: "weather", instructions: story.system, model, tools: [get_weather] });
const first = await run(agent, story.question);
const second = await run(agent, [...first.history, { role: "user", content: story.thanks }]);
console.log(JSON.stringify([first, second].map((result) => JSON.parse(result.state.toString()))));
