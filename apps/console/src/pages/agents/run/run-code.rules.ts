import type { Schema } from "../../../ui/schema-text.rules.ts";
import { exampleInput } from "./example-input.rules.ts";

interface CalledAgent {
  /** Of the server, such as https://gantry.example.com */
  origin: string;
  /** An id, or `creator/slug`. */
  agent: string;
  schema: Schema;
}

const waitSeconds = 30;

/** One argument of a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function curlRun({ origin, agent, schema }: CalledAgent): string {
  return `curl ${origin}/v1/agents/${agent}/runs \\
  -H "X-API-KEY: $GANTRY_KEY" -H "Content-Type: application/json" \\
  -d ${quoted(JSON.stringify({ input: exampleInput(schema), wait: waitSeconds }))}`;
}

export function pythonRun({ origin, agent, schema }: CalledAgent): string {
  return `# pip install requests
import os
import requests

response = requests.post(
    "${origin}/v1/agents/${agent}/runs",
    headers={"X-API-KEY": os.environ["GANTRY_KEY"]},
    json={"input": ${pythonValue(exampleInput(schema))}, "wait": ${waitSeconds}},
)
response.raise_for_status()
run = response.json()
print(run["status"], run.get("output"))`;
}

export function typescriptRun({ origin, agent, schema }: CalledAgent): string {
  return `import { createClient } from "@gantry/sdk";

const client = createClient({ url: "${origin}", key: process.env.GANTRY_KEY });
const run = await client.runs.create("${agent}", {
  input: ${JSON.stringify(exampleInput(schema))},
  wait: ${waitSeconds},
});
console.log(run.status, run.output);`;
}

/** JSON is Python, except for three words. */
function pythonValue(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, field]) => `${JSON.stringify(name)}: ${pythonValue(field)}`)
    .join(", ")}}`;
}
