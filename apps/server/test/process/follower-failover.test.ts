import { afterAll, beforeAll, expect, test } from "vitest";
import { call, putModel, send, textModel } from "../proof/client.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";

/** A prediction is followed through one process while the process that runs it dies. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let chat: ChatServer;
let cluster: Cluster;

beforeAll(async () => {
  [own, chat] = await Promise.all([testDatabase(), startChatServer()]);
  cluster = await startCluster({ databaseUrl: own.url, nodes: { holder: {}, other: {} } });
  const backend = { type: "openai-chat", url: chat.url, model: "test" };
  await putModel(cluster.node("other").url, "say", { capacity: 8, ...textModel, backend });
}, 120_000);

afterAll(async () => {
  await cluster?.close();
  await chat.close();
  await own.drop();
}, 60_000);

const path = "/api/v1/admin/say/predict";
const headers = { accept: "application/x-ndjson" };

/** Reads until the end or until the connection breaks. */
function reading(response: Response) {
  const read = { text: "" };
  const end = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) read.text += chunk;
  })().catch(() => {});
  return { read, end };
}

const follow = async (id: string) =>
  reading(await send(cluster.node("other").url, "GET", `${path}/async/result/?request_id=${id}`, { headers }));

function linesOf(text: string) {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { said: lines.flatMap((line) => line.output_data?.output ?? []).join(""), last: lines.at(-1) };
}

/** A stream through the node that runs the prediction, and the prediction's id. */
async function begin() {
  const before = chat.open;
  const response = await send(cluster.node("holder").url, "POST", `${path}/stream/`, { form: { prompt: "x" } });
  const stream = reading(response);
  await waitFor("the upstream call", () => chat.open === before + 1);
  return { ...stream, id: response.headers.get("x-prediction-id") ?? "" };
}

test("the followed transcript survives a killed node, and no rows remain", async () => {
  const [followed, alone] = [await begin(), await begin()];
  chat.say("one ");
  const lines = await follow(followed.id);
  await waitFor("the text so far", () => lines.read.text.includes('"one "'));
  chat.say("two ");
  await waitFor("what is said now", () => lines.read.text.includes('"two "'));
  await cluster.node("holder").kill();
  await Promise.all([followed.end, alone.end, lines.end]);
  const late = await follow(followed.id);
  await late.end;
  for (const { said, last } of [linesOf(lines.read.text), linesOf(late.read.text)]) {
    expect(said).toBe("one two ");
    expect(last).toMatchObject({ status: 499, detail: [{ type: "generation_cancelled" }] });
  }
  // The transcript that had no follower died with its node.
  const lost = await follow(alone.id);
  await lost.end;
  expect(linesOf(lost.read.text)).toMatchObject({ said: "", last: { status: 499 } });
  expect(await own.database.sql`select 1 from prediction_fragments`).toHaveLength(0);
}, 90_000);

test("a queued prediction whose worker is killed restarts its transcript on the other node", async () => {
  await cluster.node("holder").start();
  const before = chat.open;
  const form = { prompt: "x" };
  const { prediction_id: id } = (await call(cluster.node("holder").url, "POST", `${path}/async/`, { form })).body;
  await waitFor("the upstream call", () => chat.open === before + 1);
  const along = await follow(id);
  chat.say("A0x A1x A2x ");
  await waitFor("the text so far", () => along.read.text.includes("A2x "));
  await cluster.node("holder").kill();
  const calls = chat.requests.length;
  await waitFor("the call of the other node", () => chat.requests.length > calls && chat.open === before + 1, 60_000);
  const late = await follow(id);
  chat.say("B0xx B1xx ");
  await waitFor("what is said now", () => [along, late].every(({ read }) => read.text.includes("B1xx ")));
  chat.say("B2xx");
  chat.end({ prompt_tokens: 1, completion_tokens: 3 });
  await Promise.all([along.end, late.end]);
  const [restart, ...more] = along.read.text.split("\n").filter((line) => line.includes('"restarted":true'));
  expect([JSON.parse(restart ?? ""), more]).toEqual([
    { output_data: { output: ["B0xx B1xx "] }, status: 200, restarted: true },
    [],
  ]);
  const whole = "B0xx B1xx B2xx";
  expect(linesOf(along.read.text).said).toBe(`A0x A1x A2x ${whole}`);
  expect(linesOf(late.read.text)).toMatchObject({ said: whole, last: { stream_details: { output_tokens: 3 } } });
}, 120_000);
