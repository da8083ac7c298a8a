import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askAgent, openaiClient, streamAgent } from "../../support/agent-chats.ts";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

/** The client is connected to a node that runs no agents. Text reaches it by notifications of the database. */
let door: GantryNode;
let worker: GantryNode;
let chat: ChatServer;
let client: OpenAI;
const agent = "agents/admin/writer";

beforeAll(async () => {
  chat = await startChatServer();
  door = await startGantry({ env: { GANTRY_ROLE: "api" } });
  worker = await startGantry({ beside: door, env: { GANTRY_ROLE: "worker" } });
  await createModels(door, { llm: agentModel(chat.url) });
  const json = { name: "Writer", goal: "Answer {{input}}.", tools: [], model: "admin/llm" };
  const made = await door.call("POST", "/v1/agents", { json });
  expect((await door.call("POST", `/v1/agents/${made.body.id}/publish`, { json: {} })).status).toBe(200);
  client = openaiClient(door, door.adminKey);
}, 60_000);

afterAll(async () => {
  await worker?.close();
  await door?.close();
  await chat.close();
});

let notified: string[] = [];
beforeEach(() => {
  notified = [];
});

async function begin(text = "Go.") {
  const stream = await streamAgent(client, agent, text);
  await waitFor("the call of the model", () => chat.open === 1);
  return stream;
}

test("text of a run on another node arrives while it is written", async () => {
  const { seen, end } = await begin();
  chat.say("One ");
  await waitFor("the first word", () => seen.text === "One ");
  chat.say("two ", "three.");
  await waitFor("the other words", () => seen.text === "One two three.");
  chat.end();
  expect(await end).toMatchObject({ text: "One two three.", error: undefined });
});

test("words that are written together arrive in few notifications", async () => {
  const listener = await door.database.listen("gantry_run_text", (payload) => notified.push(payload));
  try {
    const { seen, end } = await begin();
    const words = Array.from({ length: 200 }, (_, n) => `word${n} `);
    chat.say(...words);
    await waitFor("the words", () => seen.text === words.join(""));
    chat.end();
    await end;
    expect(notified.length).toBeLessThan(20);
  } finally {
    await listener.stop();
  }
});

test("a text beyond the size of a notification arrives in parts and in order", async () => {
  const { seen, end } = await begin();
  const long = Array.from({ length: 3_000 }, (_, n) => `"${n}\n😀`).join("");
  chat.say(long);
  await waitFor("the text", () => seen.text.length === long.length);
  chat.end();
  expect((await end).text).toBe(long);
});

test("a run whose client wants no stream sends no notifications of its text", async () => {
  const listener = await door.database.listen("gantry_run_text", (payload) => notified.push(payload));
  try {
    const answer = askAgent(client, agent, "Go.");
    await waitFor("the call of the model", () => chat.open === 1);
    chat.say("One ");
    await new Promise((resolve) => setTimeout(resolve, 200));
    chat.say("two.");
    chat.end();
    expect((await answer).text).toBe("One two.");
    expect(notified).toEqual([]);
  } finally {
    await listener.stop();
  }
});

test("an ordinary run sends no notifications of its text, also if its events are followed", async () => {
  const listener = await door.database.listen("gantry_run_text", (payload) => notified.push(payload));
  try {
    const { agents } = (await door.call("GET", "/v1/agents")).body;
    const started = await door.call("POST", `/v1/agents/${agents[0].id}/runs`, { json: { input: {} } });
    const events = await door.fetch("GET", `/v1/runs/${started.body.id}/events`);
    await waitFor("the call of the model", () => chat.open === 1);
    chat.say("One ");
    await new Promise((resolve) => setTimeout(resolve, 200));
    chat.end();
    expect(await events.text()).toContain("event: completed");
    expect(notified).toEqual([]);
  } finally {
    await listener.stop();
  }
});

test("a character that is written in two pieces arrives whole", async () => {
  const { seen, end } = await begin();
  chat.say("A \ud83d");
  await waitFor("the text before it", () => seen.text === "A ");
  chat.say("\ude00.");
  await waitFor("the character", () => seen.text === "A 😀.");
  chat.end();
  expect((await end).text).toBe("A 😀.");
});

test("lost notifications leave no gap", async () => {
  const { seen, end } = await begin();
  chat.say("One ");
  await waitFor("the first word", () => seen.text === "One ");
  // Every listening connection of both nodes: what is notified meanwhile is lost.
  const broken = await door.database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and (query like 'listen%' or query = 'select 1')`;
  expect(broken.length).toBeGreaterThan(1);
  chat.say("two ");
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  chat.say("three.");
  chat.end();
  expect((await end).text).toBe("One two three.");
});

test("a client that disconnects from one node stops the call on the other", async () => {
  const leave = new AbortController();
  const { seen, end } = await streamAgent(client, agent, "Go.", { signal: leave.signal });
  await waitFor("the call of the model", () => chat.open === 1);
  chat.say("One ");
  await waitFor("the first word", () => seen.text === "One ");
  leave.abort();
  await end;
  await waitFor("the end of the call", () => chat.open === 0);
});
