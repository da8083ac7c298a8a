import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { call, putModel, textModel } from "../proof/client.ts";
import { openaiClient, streamAgent } from "../support/agent-chats.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { type Cluster, clusterAdminKey, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";

/** A client streams an agent's answer through one process while the process that works on the run dies. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let chat: ChatServer;
let cluster: Cluster;
const agent = "agents/admin/writer";
const takeoverMs = 60_000;

beforeAll(async () => {
  [own, chat] = await Promise.all([testDatabase(), startChatServer()]);
  const nodes = { door: { GANTRY_ROLE: "api" }, one: { GANTRY_ROLE: "worker" }, two: { GANTRY_ROLE: "worker" } };
  cluster = await startCluster({ databaseUrl: own.url, nodes });
  const { url } = cluster.node("door");
  const backend = { type: "openai-chat", url: chat.url, model: "test" };
  await putModel(url, "llm", { capacity: 8, ...textModel, backend });
  const json = { name: "Writer", goal: "Answer {{input}}.", tools: [], model: "admin/llm" };
  const made = await call(url, "POST", "/v1/agents", { json });
  expect(made.status, made.text).toBe(201);
  expect((await call(url, "POST", `/v1/agents/${made.body.id}/publish`, { json: {} })).status).toBe(200);
  await cluster.node("two").kill();
}, 120_000);

afterAll(async () => {
  await cluster?.close();
  await chat.close();
  await own.drop();
}, 60_000);

/** Kills the worker in the middle of the text, and lets another one begin the call again. */
async function killWhileWriting(dying: string, taking: string) {
  const { seen, end } = await streamAgent(openaiClient(cluster.node("door"), clusterAdminKey), agent, "Go.");
  await waitFor("the call of the model", () => chat.open === 1, takeoverMs);
  chat.say("One ", "two ");
  await waitFor("the text so far", () => seen.text === "One two ");
  await cluster.node(dying).kill();
  await waitFor("the end of the call", () => chat.open === 0);
  await cluster.node(taking).start();
  await waitFor("the call of the other worker", () => chat.open === 1, takeoverMs);
  return { seen, end };
}

test("the text goes on after the takeover, and is complete", async () => {
  const { seen, end } = await killWhileWriting("one", "two");
  chat.say("One ", "two ", "three");
  await waitFor("the text after the takeover", () => seen.text === "One two three");
  chat.say(".");
  chat.end({ prompt_tokens: 5, completion_tokens: 4 });
  expect(await end).toMatchObject({ text: "One two three.", error: undefined, usage: { completion_tokens: 4 } });
  expect(await verifyLedger(own.database)).toEqual([]);
}, 120_000);

test("an answer that is written differently after the takeover is sent whole", async () => {
  const { seen, end } = await killWhileWriting("two", "one");
  chat.say("Another ", "answer.");
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(seen.text).toBe("One two ");
  chat.end({ prompt_tokens: 5, completion_tokens: 2 });
  expect(await end).toMatchObject({ text: "One two \n\nAnother answer.", error: undefined });
  expect(await verifyLedger(own.database)).toEqual([]);
}, 120_000);
