import { readdir, readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type AgentSetup, createClient, type GantryClient, type NewAgent, setUpAgent } from "@gantry/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { type LlmAnswer, type LlmRequest, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

// Every template of examples/agents does its work: set up as the console does it, with a scripted model.

const examples = new URL("../../../../../examples/agents/", import.meta.url);
const readJson = async <T>(file: string) => JSON.parse(await readFile(new URL(file, examples), "utf8")) as T;
const files = await readdir(examples);

let gantry: GantryNode;
let client: GantryClient;
let llm: ScriptedLlm;
let site: Server;
let siteUrl: string;
/** Bodies of POST requests to the site. */
const posted: string[] = [];

beforeAll(async () => {
  site = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    if (request.method === "POST") posted.push(body);
    const { pathname } = new URL(request.url ?? "/", siteUrl);
    if (pathname === "/search") {
      const results = ["ships", "trains"].map((name) => ({
        title: `About ${name}`,
        url: `${siteUrl}/${name}`,
        content: `All about ${name}.`,
      }));
      return response.setHeader("content-type", "application/json").end(JSON.stringify({ results }));
    }
    const text = `${pathname.slice(1)} carry people and goods over long distances. `.repeat(20);
    response.setHeader("content-type", "text/html");
    return response.end(
      `<html><head><title>On ${pathname}</title></head><body><article><p>${text}</p></article></body></html>`,
    );
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  llm = await startScriptedLlm();
  gantry = await startGantry({ env: { GANTRY_SEARXNG_URL: siteUrl } });
  client = createClient({ url: gantry.url, key: gantry.adminKey });
  const manifest = await readJson<object>("../models/openai-chat.json");
  await gantry.call("PUT", "/api/v1/admin/chat", {
    json: { ...manifest, backend: { type: "openai-chat", url: llm.url, model: "test" } },
  });
});
afterAll(async () => {
  await gantry?.close();
  await llm?.close();
  site?.close();
});

async function setUp(id: string) {
  const agent = await readJson<NewAgent>(`${id}.json`);
  const setup = files.includes(`${id}.setup.json`) ? await readJson<AgentSetup>(`${id}.setup.json`) : {};
  const created = await setUpAgent(client, { ...agent, model: "admin/chat" }, setup);
  expect(created.agent.warnings).toEqual([]);
  if (!setup.schedule && !setup.trigger) await client.agents.publish(created.agent.id);
  return created;
}

/** Answers one request after the other. The last answer is repeated, because some agents format their output in a step. */
function says(...answers: (LlmAnswer | ((request: LlmRequest) => LlmAnswer))[]): void {
  llm.requests.length = 0;
  llm.script = (request, n) => {
    const answer = answers[n - 1] ?? answers.at(-1) ?? {};
    return typeof answer === "function" ? answer(request) : answer;
  };
}

const calling = (name: string, args: unknown): LlmAnswer => ({ calls: [{ name, args }] });
const lastResult = ({ messages }: LlmRequest) => messages.findLast(({ role }) => role === "tool")?.content ?? "";
const promptOf = ({ messages }: LlmRequest) => messages.map(({ content }) => content ?? "").join("\n");

async function run(agentId: string, input: Record<string, unknown>, more: object = {}) {
  return client.runs.create(agentId, { input, wait: 60, ...more });
}

async function approve(runId: string): Promise<void> {
  const [confirmation] = await client.runs.confirmations.list(runId);
  await client.runs.confirmations.approve(runId, confirmation?.id ?? "");
}

/** Waits until the index of the drive is ready. */
async function indexed(driveId: string): Promise<void> {
  await waitFor("the index", async () => (await client.drives.get(driveId)).index?.status === "ready");
}

test("there are ten templates, and each has its test here", async () => {
  const ids = files.filter((file) => !file.endsWith(".setup.json")).map((file) => file.replace(/\.json$/, ""));
  const source = await readFile(new URL(import.meta.url), "utf8");
  expect(ids).toHaveLength(10);
  for (const id of ids) expect(source, id).toContain(`test("${id}`);
});

test("careful-caller asks before it calls", async () => {
  const { agent } = await setUp("careful-caller");
  says(calling("http_request", { method: "GET", url: `${siteUrl}/ships` }), (request) => ({
    text: lastResult(request).slice(0, 500),
  }));
  const asking = await run(agent.id, { url: `${siteUrl}/ships` });
  expect(asking.phase).toBe("awaiting_confirmation");
  await approve(asking.id);
  expect(await client.runs.waitFor(asking.id)).toMatchObject({ status: "done" });
});

test("illustrator paints", async () => {
  const { agent } = await setUp("illustrator");
  says(calling("run_model", { input: { prompt: "a lighthouse" } }), (request) => ({ text: lastResult(request) }));
  const { status, output, cost } = await run(agent.id, { scene: "a lighthouse" });
  expect([status, cost]).toEqual(["done", expect.any(Number)]);
  expect(JSON.stringify(output)).toMatch(/s3:\/\/gantry\/outputs\/pred_\w+\/file_\w+\/image\.jpg/);
});

test("page-reader reads a page, with the question of the reader", async () => {
  const { agent } = await setUp("page-reader");
  says(calling("web_fetch", { url: `${siteUrl}/ships` }), (request) => ({
    text: JSON.stringify({ title: "Ships", summary: /ships carry people/.exec(lastResult(request))?.[0] ?? "nothing" }),
  }));
  const { output } = await run(agent.id, { url: `${siteUrl}/ships`, question: "What do they carry?" });
  expect(output).toEqual({ title: "Ships", summary: "ships carry people" });
  expect(promptOf(llm.requests[0] as LlmRequest)).toContain("for a reader who asks: What do they carry?");
});

test("web-researcher searches, reads and names its sources", async () => {
  const { agent } = await setUp("web-researcher");
  says(
    { text: "Search for ships." },
    calling("web_search", { query: "ships" }),
    (request) => calling("web_fetch", { url: /http\S+\/trains/.exec(lastResult(request))?.[0] ?? "" }),
    (request) => ({
      text: JSON.stringify({
        answer: /trains carry/.exec(lastResult(request))?.[0] ?? "nothing",
        sources: [{ title: "About trains", url: `${siteUrl}/trains` }],
      }),
    }),
  );
  const { output } = await run(agent.id, { question: "What carries people?" });
  expect(output).toMatchObject({ answer: "trains carry", sources: [{ url: `${siteUrl}/trains` }] });
});

test("daily-briefing has a schedule, and notes what it has reported", async () => {
  const { agent, schedule } = await setUp("daily-briefing");
  expect(schedule).toMatchObject({ status: "disabled", cron: "0 7 * * 1-5" });
  const enabled = await client.schedules.update(schedule?.id ?? "", { enabled: true });
  expect(enabled.next_times.length).toBeGreaterThan(0);
  says(calling("web_search", { query: "rail" }), calling("update_memory", { new: "- A new night train" }), {
    text: "One story.",
  });
  const first = await client.schedules.run(schedule?.id ?? "");
  expect(await client.runs.waitFor(first.id)).toMatchObject({
    status: "done",
    source: { type: "schedule", id: schedule?.id },
  });
  says({ text: "Nothing new." });
  await run(agent.id, { topics: "rail" });
  expect(promptOf(llm.requests[0] as LlmRequest)).toContain("- A new night train");
});

test("document-answers finds the passage and cites its lines", async () => {
  const { agent, drives } = await setUp("document-answers");
  await indexed(drives[0]?.id ?? "");
  says(calling("drive_search", { query: "days of holiday" }), (request) => ({ text: lastResult(request) }));
  const { output } = await run(agent.id, { question: "How many days of holiday do I have?" });
  expect(output?.text).toMatch(/\/handbook\.md.*lines \d+/s);
  expect(output?.text).toContain("28 days");
});

test("personal-assistant knows the conversation and its notes", async () => {
  const { agent, drives, memoryDrive } = await setUp("personal-assistant");
  says(calling("update_memory", { new: "The reader's name is Ada." }), { text: "Nice to meet you, Ada." });
  await run(agent.id, { message: "I am Ada." }, { thread_id: "first" });
  says({ text: "You said that you are Ada." });
  await run(agent.id, { message: "What did I say?" }, { thread_id: "first" });
  expect(promptOf(llm.requests[0] as LlmRequest)).toMatch(/I am Ada\..*Nice to meet you, Ada\..*What did I say\?/s);
  says({ text: "Hello, Ada." });
  await run(agent.id, { message: "Hello!" }, { thread_id: "second" });
  expect(promptOf(llm.requests[0] as LlmRequest)).toContain("The reader's name is Ada.");
  const notes = await gantry.call("GET", `/v1/drives/${memoryDrive?.id}/files/memory.md`);
  expect(notes.text).toContain("The reader's name is Ada.");
  // Tools read the drives of an agent for other users too.
  expect(drives.map(({ id }) => id)).not.toContain(memoryDrive?.id);
});

test("data-analyst calculates over a file and saves the result", async () => {
  const { agent, drives } = await setUp("data-analyst");
  const code = `
    const rows = files.read("/sales.csv").trim().split("\\n").slice(1).map((line) => line.split(","));
    const sums = {};
    for (const [region, , amount] of rows) sums[region] = (sums[region] ?? 0) + Number(amount);
    files.write("/results/sums.csv", Object.entries(sums).map((pair) => pair.join(",")).join("\\n"));
    sums`;
  says(calling("run_javascript", { code }), (request) => ({ text: lastResult(request) }));
  const { output } = await run(agent.id, { question: "Sales per region?" });
  expect(output?.text).toContain("2100");
  const saved = await gantry.call("GET", `/v1/drives/${drives[0]?.id}/files/results/sums.csv`);
  expect(saved.text).toBe("north,2100\nsouth,2300");
});

test("issue-triage runs once for each delivery of GitHub", async () => {
  const { trigger } = await setUp("issue-triage");
  says({ text: JSON.stringify({ labels: ["bug"], priority: "high", answer: "Which version do you use?" }) });
  const deliver = (id = "5c8c6fb2", body: string | null = "After a minute.") =>
    fetch(trigger?.url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json", "x-github-delivery": id },
      body: JSON.stringify({ repository: { full_name: "ada/engine" }, issue: { title: "It stops", body } }),
    });
  const [first, second] = [await deliver(), await deliver()];
  expect([first.status, second.status]).toEqual([202, 202]);
  const { run_id: runId } = (await first.json()) as { run_id: string };
  expect(await second.json()).toEqual({ run_id: runId, duplicate: true });
  const done = await client.runs.waitFor(runId);
  expect(done).toMatchObject({
    status: "done",
    output: { priority: "high" },
    input: { title: "It stops", repository: "ada/engine" },
  });
  // GitHub sends null for an issue without a description.
  expect((await deliver("7d1e0f44", null)).status).toBe(202);
});

test("support-desk answers from its handbook after an approval, in the thread of the conversation", async () => {
  const { trigger, drives } = await setUp("support-desk");
  await indexed(drives[0]?.id ?? "");
  says(
    calling("drive_search", { query: "return goods" }),
    (request) =>
      calling("http_request", {
        method: "POST",
        url: `${siteUrl}/reply`,
        body: JSON.stringify({ text: /within 30 days/.exec(lastResult(request))?.[0] ?? "" }),
      }),
    { text: "Answered." },
  );
  const body = {
    from: "ada@example.com",
    subject: "Return",
    text: "Can I return it?",
    reply_url: `${siteUrl}/reply`,
    conversation: "c1",
  };
  const delivered = await gantry.call("POST", new URL(trigger?.url ?? "").pathname, { json: body, key: "" });
  expect(delivered.status, delivered.text).toBe(202);
  const runId = delivered.body.run_id as string;
  await waitFor("the confirmation", async () => (await client.runs.get(runId)).phase === "awaiting_confirmation");
  expect(posted).toEqual([]);
  await approve(runId);
  expect(await client.runs.waitFor(runId)).toMatchObject({ status: "done", thread_id: "support-c1" });
  expect(posted).toEqual(['{"text":"within 30 days"}']);
  // Messages of different people must not share a thread.
  const json = { ...body, conversation: null };
  expect((await gantry.call("POST", new URL(trigger?.url ?? "").pathname, { json, key: "" })).status).toBe(400);
});
