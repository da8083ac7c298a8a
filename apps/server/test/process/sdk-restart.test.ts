import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GantryClient, type StreamEvent, textSoFar } from "../../../../packages/sdk/src/index.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { type SlowCog, startSlowCog } from "../support/slow-cog.ts";
import { waitFor } from "../support/wait-for.ts";
import { adminKey, endEverything, type ServerProcess, startServer } from "./server-process.ts";

const servers: ServerProcess[] = [];
let home: string;
let settings: Record<string, string>;
let cog: SlowCog;
let chat: ChatServer;
let llm: ScriptedLlm;
let client: GantryClient;
let agent: string;
let isThinking = true;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

async function start(): Promise<ServerProcess> {
  const server = startServer(settings);
  servers.push(server);
  await server.url();
  return server;
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "gantry-restart-"));
  [cog, chat] = await Promise.all([startSlowCog(), startChatServer()]);
  llm = await startScriptedLlm(async () => {
    await waitFor("the test to let the model speak", () => !isThinking, 60_000);
    return { text: "done" };
  });
  settings = {
    DATABASE_URL: await testDatabaseUrl(),
    GANTRY_HOME: home,
    GANTRY_ADMIN_KEY: adminKey,
    GANTRY_ALLOW_PRIVATE_NETWORK: "1",
    GANTRY_LLM_URL: llm.url,
    GANTRY_LLM_MODEL: "test",
    GANTRY_STOP_GRACE_SECONDS: "8",
    PORT: String(await freePort()),
  };
  await start();
  client = createClient({ url: `http://127.0.0.1:${settings.PORT}`, key: adminKey });
  await client.models.put("admin/slow", {
    title: "Slow",
    kind: "other",
    capacity: 4,
    input: { type: "object", properties: { prompt: { type: "string" } } },
    output: { type: "object", properties: { output: { type: "string" } } },
    backend: { type: "cog", url: cog.url },
  });
  await client.models.put("admin/chat", {
    title: "Chat",
    capacity: 4,
    kind: "text",
    input: { type: "object", required: ["prompt"], properties: { prompt: { type: "string" } } },
    output: { type: "object", properties: { output: { type: "string", isStream: true } } },
    backend: { type: "openai-chat", url: chat.url, model: "test" },
  });
  agent = (await client.agents.create({ name: "Thinker", goal: "Think.", tools: [] })).id;
  await client.agents.publish(agent);
}, 60_000);

afterAll(async () => {
  await endEverything(servers, []);
  await Promise.all([cog.close(), chat.close(), llm.close()]);
  await rm(home, { recursive: true });
});

test.each(["SIGKILL", "SIGTERM"] as const)(
  "a waiting client gets the end after a restart by %s",
  async (signal) => {
    isThinking = true;
    const id = await client.submit("admin/slow", { prompt: "x" });
    const { id: runId } = await client.runs.create(agent, { input: {} });
    const told = Array.fromAsync(client.runs.events(runId), ({ type }) => type);
    const waiting = Promise.allSettled([client.waitFor("admin/slow", id), client.runs.waitFor(runId), told]);
    await waitFor("the work to begin", () => cog.open === 1 && llm.open >= 1, 20_000);
    const old = servers.at(-1);
    old?.kill(signal);
    if (signal === "SIGTERM") {
      // Draining refuses requests for longer than quick retries last.
      await sleep(4_000);
      cog.finishAll();
      isThinking = false;
    }
    await old?.exit;
    await sleep(1_000);
    await start();
    isThinking = false;
    const finishing = setInterval(cog.finishAll, 200);
    try {
      const [prediction, run, events] = await waiting;
      expect(prediction).toMatchObject({ status: "fulfilled", value: { output_data: { output: "done" } } });
      expect(run).toMatchObject({ status: "fulfilled", value: { status: "done", output: { text: "done" } } });
      expect(events).toEqual({ status: "fulfilled", value: ["planning", "completed"] });
    } finally {
      clearInterval(finishing);
    }
  },
  90_000,
);

/** The model answers differently after each restart. */
test.each(["SIGKILL", "SIGTERM"] as const)(
  "a follower of a prediction restarted by %s has only the new text",
  async (signal) => {
    const id = await client.submit("admin/chat", { prompt: "x" });
    const events: StreamEvent[] = [];
    const following = (async () => {
      for await (const event of client.follow("admin/chat", id)) events.push(event);
    })();
    const text = () => events.reduce(textSoFar, "");
    await waitFor("the upstream call", () => chat.open === 1);
    chat.say("A0x A1x A2x A3x ");
    await waitFor("the text so far", () => text() === "A0x A1x A2x A3x ");
    const old = servers.at(-1);
    old?.kill(signal);
    await old?.exit;
    const calls = chat.requests.length;
    await start();
    await waitFor("the second call", () => chat.requests.length === calls + 1 && chat.open === 1, 30_000);
    chat.say("B0xx B1xx ");
    await waitFor("what is said now", () => text() === "B0xx B1xx ", 30_000);
    chat.say("B2xx");
    chat.end({ prompt_tokens: 1, completion_tokens: 3 });
    await following;
    expect(text()).toBe("B0xx B1xx B2xx");
    expect((await client.waitFor("admin/chat", id)).output_data).toEqual({ output: text() });
    expect(events.filter(({ restarted }) => restarted)).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ stream_details: { output_tokens: 3 } });
  },
  120_000,
);
