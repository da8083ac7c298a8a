import { afterAll, beforeAll, expect, test } from "vitest";
import { putModel, send, textModel } from "../proof/client.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";

/** Streams that somebody follows through another process than the one that holds them, which dies. */
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

/** Reads what arrives until the end, or until the connection breaks. */
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

/** A stream through the holder, and its id. */
async function begin() {
  const before = chat.open;
  const response = await send(cluster.node("holder").url, "POST", `${path}/stream/`, { form: { prompt: "x" } });
  const stream = reading(response);
  await waitFor("the upstream call", () => chat.open === before + 1);
  return { ...stream, id: response.headers.get("x-prediction-id") ?? "" };
}

test("what followers have is kept when the holder is killed, and nothing stays behind", async () => {
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
  // What nobody followed died with its node.
  const lost = await follow(alone.id);
  await lost.end;
  expect(linesOf(lost.read.text)).toMatchObject({ said: "", last: { status: 499 } });
  expect(await own.database.sql`select 1 from prediction_fragments`).toHaveLength(0);
}, 90_000);
