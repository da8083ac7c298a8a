import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { testDatabase } from "../support/database.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { waitFor } from "../support/wait-for.ts";
import { startWire, type Wire } from "./wire.ts";

/** A follower survives a database outage. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let wire: Wire;
let chat: ChatServer;
let gantry: GantryNode;
const text = { type: "string" };

beforeAll(async () => {
  [own, chat] = await Promise.all([testDatabase(), startChatServer()]);
  wire = await startWire(own.url);
  gantry = await startGantry({ env: { DATABASE_URL: wire.url } });
  const json = {
    ...{ title: "Chat", kind: "text", visibility: "public", capacity: 4 },
    input: { type: "object", required: ["prompt"], properties: { prompt: text } },
    output: { type: "object", required: ["output"], properties: { output: { ...text, isStream: true } } },
    backend: { type: "openai-chat", url: chat.url, model: "test" },
  };
  const put = await gantry.call("PUT", "/api/v1/admin/chat", { json });
  expect(put.status, put.text).toBe(201);
});
afterAll(async () => {
  await gantry.close();
  await wire.close();
  await own.drop();
  await chat.close();
}, 60_000);

test("a follower continues after a database outage and reads the end", async () => {
  const headers = { accept: "application/x-ndjson" };
  const path = "/api/v1/admin/chat/predict/async/";
  const response = await gantry.fetch("POST", path, { form: { prompt: "x" }, headers });
  expect(response.status).toBe(200);
  let read = "";
  const whole = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) read += chunk;
  })();
  await waitFor("the upstream call", () => chat.open === 1);
  chat.say("before ");
  await waitFor("the first words", () => read.includes("before "));
  wire.cut();
  await sleep(2_500);
  wire.mend();
  chat.say("after");
  chat.end();
  await whole;
  const lines = read
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.flatMap((line) => line.output_data?.output ?? []).join("")).toBe("before after");
  expect(lines.at(-1)).toMatchObject({ output_data: {}, status: 200, stream_details: {} });
}, 60_000);
