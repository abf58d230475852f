// The task with the AI SDK.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const [base, key, folder, task, ...models] = process.argv.slice(2);
const site = createOpenAICompatible({ name: "toolsupport", baseURL: base, apiKey: key });
const text = z.string();
let calls = [];

const made = (name, description, properties, run) =>
  tool({
    description,
    inputSchema: z.object(properties),
    execute: async (input) => {
      calls.push(name);
      return run(input);
    },
  });

const tools = {
  list_directory: made("list", "Lists the files of a folder.", { path: text }, ({ path }) => readdirSync(path).join("\n")),
  read_file: made("read", "Returns the text of a file.", { path: text }, ({ path }) => readFileSync(path, "utf8")),
  edit_file: made("edit", "Replaces a text in a file.", { path: text, old: text, new: text }, (input) => {
    writeFileSync(input.path, readFileSync(input.path, "utf8").replaceAll(input.old, input.new));
    return "Done.";
  }),
  run_command: made("run", "Runs a command in the shell.", { command: text }, ({ command }) =>
    execFileSync("bash", ["-c", command], { encoding: "utf8" }),
  ),
};

const solve = async (name) => {
  const asked = { model: site(name), prompt: task, stopWhen: stepCountIs(10), maxRetries: 0, tools };
  return (await generateText(asked)).text;
};

const told = {};
for (const name of models) {
  calls = [];
  process.chdir(`${folder}/${name}`);
  const ended = await solve(name).catch(String);
  told[name] = [calls, ended];
}
console.log(JSON.stringify(told));
