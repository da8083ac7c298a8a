import {
  inTurn,
  type LlmAnswer,
  type ScriptedLlm,
  startScriptedLlm,
} from "../../../server/test/support/scripted-llm.ts";
import { type Call, type SampleIds, sampleClient } from "./sample-client.ts";
import { textModel } from "./text-model.ts";

const release = `## What's new in 2.4

- **Faster starts.** A node is ready in 1.4 s.
- **Approvals inbox.** Answer every waiting agent in one place.
- Uploads continue after a lost connection.

| area | before | now |
|---|---|---|
| start | 2.9 s | 1.4 s |
| upload | restarts | continues |

\`\`\`sh
npm start
\`\`\`
`;

const calls = (name: string, args: object): LlmAnswer => ({ calls: [{ name, args }], usage: { in: 412, out: 38 } });
const said = (text: string, used: { in: number; out: number; cached?: number }): LlmAnswer => ({ text, usage: used });

export interface Sample extends SampleIds {
  /** The upstream of the sample's text model; close it last. */
  llm: ScriptedLlm;
}

/** Fills an empty Gantry with what a small team has after a week: for accessibility checks and screenshots. */
export async function createSampleData(call: Call, { pictures = 1 } = {}): Promise<Sample> {
  const llm = await startScriptedLlm(inTurn(said(release, { in: 214, out: 168, cached: 128 })));
  const client = sampleClient(call);
  await client.put("/api/v1/admin/assistant", {
    ...textModel(llm.url),
    title: "Assistant",
    description: "Writes and edits text. Streams its answer.",
  });
  const grace = await client.newUser("grace", 40);
  const predictions = await client.predictAll("admin/assistant", [
    "Write the release notes of version 2.4.",
    "Summarize the meeting about uploads in three bullet points.",
    "Translate the welcome page to German.",
    "Explain leases and heartbeats to a new colleague.",
  ]);
  const scenes = ["a lighthouse at dawn", "a harbour in the rain", "a red fox in the snow"].slice(0, pictures);
  for (const prompt of scenes) await client.predict("gantry/image", { prompt, size: "1280x720" });
  await client.predict("gantry/image", { prompt: "a poster", size: "9x9" }, [422]);
  llm.script = () => ({ status: 500 });
  await client.stream("admin/assistant", { prompt: "Write a poem." });
  const hooked = { prompt: "What is 6 * 7?", webhook: JSON.stringify({ url: "http://127.0.0.1:9/hook" }) };
  await client.form("/api/v1/gantry/text/predict/async/", hooked);

  await client.post("/api/v2/keys", {
    name: "website",
    models: ["gantry/image", "admin/assistant"],
    monthly_limit: 25,
  });
  await client.post("/api/v2/keys", { name: "nightly reports", expires_at: "2031-01-01T00:00:00Z" });
  await client.put("/api/v2/secrets/openai", { value: "sample-secret" });
  await client.put("/api/v2/aliases/gpt-4o", { model: "admin/assistant" });
  await client.put("/api/v2/providers/rack", { type: "openai-compatible", url: llm.url });
  await client.put("/api/v2/admin/plans/team", { requests_per_minute: 600, parallel: 20 });
  const drive = await client.post("/v1/drives", {
    name: "Reports",
    description: "Weekly reports for the team.",
    index: { embedding_model: null },
  });
  await client.upload(drive.id, "/notes/week-46.md", "# Week 46\n\n- Shipped 2.4\n");
  await client.upload(drive.id, "/figures.csv", "day,requests\nmonday,120\n");
  const tickets = { name: "Tickets", url: "http://127.0.0.1:9/mcp", connection_type: "streamable_http" };
  const server = await client.post("/v1/mcp-servers", tickets);

  const agents = await createAgents(client, grace);
  const run = await client.run(agents.writer, { version: "2.4" }, llm, [
    calls("run_javascript", { code: "[12, 30, 8].reduce((sum, n) => sum + n)" }),
    said(release, { in: 980, out: 240, cached: 512 }),
  ]);
  const waiting = await client.run(agents.caller, { expression: "6 * 7" }, llm, [
    calls("run_javascript", { code: "6 * 7" }),
    said("The result is 42.", { in: 520, out: 9 }),
  ]);
  await client.chat(agents.writer, "release-2-4", [{ version: "2.4" }, { version: "2.5" }], llm, [
    said(release, { in: 640, out: 190 }),
  ]);
  const weekdays = { name: "Weekday notes", cron: "0 9 * * MON-FRI", timezone: "Europe/Berlin" };
  await client.post(`/v1/agents/${agents.writer}/schedules`, { ...weekdays, input: { version: "nightly" } });
  await client.post(`/v1/agents/${agents.writer}/triggers`, { name: "Tags", input: { version: "{{body.ref}}" } });
  const [prediction = ""] = predictions;
  return { llm, prediction, drive: drive.id, server: server.id, agent: agents.writer, run, waiting };
}

async function createAgents(client: ReturnType<typeof sampleClient>, grace: string) {
  const input = (name: string) => ({ type: "object", required: [name], properties: { [name]: { type: "string" } } });
  const model = "admin/assistant";
  const writer = await client.agent({
    name: "Release writer",
    description: "Counts the changes of a version and writes its release notes.",
    goal: "Write the release notes of version {{version}}.",
    input_schema: input("version"),
    tools: ["run_javascript"],
    model,
  });
  const caller = await client.agent({
    name: "Careful calculator",
    description: "Calculates, but asks before it runs code.",
    goal: "Calculate {{expression}}.",
    input_schema: input("expression"),
    tools: [{ type: "tool", id: "run_javascript", confirm: "always" }],
    model,
  });
  const offered = { goal: "Review {{text}}.", input_schema: input("text"), tools: [], model: "gantry/text" };
  await client.agent({ ...offered, name: "Style reviewer", visibility: "public", pricing: { per_run: 0.25 } }, grace);
  return { writer, caller };
}
