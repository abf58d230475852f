// A two-round tool loop with the AI SDK, whole and streamed.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [base, key, ...models] = process.argv.slice(2);
const site = createOpenAICompatible({ name: "toolsupport", baseURL: base, apiKey: key, includeUsage: true });

const asked = (name, made) => ({
  model: site(name),
  prompt: "What's in this folder?",
  stopWhen: stepCountIs(4),
  maxRetries: 0,
  tools: {
    list_directory: tool({
      description: "Lists a folder.",
      inputSchema: z.object({ path: z.string() }),
      execute: async (input) => {
        made.push(["list_directory", input]);
        return "config.json";
      },
    }),
  },
});

const whole = async (name) => {
  const made = [];
  const { text } = await generateText(asked(name, made));
  return [made, text];
};

const streamed = async (name) => {
  const made = [];
  const result = streamText(asked(name, made));
  await result.consumeStream();
  return [made, await result.text];
};

const told = {};
for (const way of [whole, streamed]) {
  told[way.name] = {};
  for (const name of models) told[way.name][name] = await way(name);
}
console.log(JSON.stringify(told));
