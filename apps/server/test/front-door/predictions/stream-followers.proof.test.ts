import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, cogModel, createModels, object, text } from "../../support/models.ts";
import { readStream } from "../../support/read-stream.ts";
import { type SlowCog, startSlowCog } from "../../support/slow-cog.ts";
import { waitFor } from "../../support/wait-for.ts";

/** The transcript of a streamed prediction, read as JSON lines by followers. */
let gantry: GantryNode;
let second: GantryNode;
let chat: ChatServer;
let cog: SlowCog;
let stranger: string;

beforeAll(async () => {
  [chat, cog] = await Promise.all([startChatServer(), startSlowCog()]);
  gantry = await startGantry();
  second = await startGantry({ beside: gantry });
  const pricing = { per_million_output_tokens: 1000 };
  await createModels(gantry, {
    chat: chatModel(chat.url, { capacity: 8, pricing }),
    one: chatModel(chat.url, { capacity: 1, pricing }),
    whole: cogModel(cog.url, { output: object({ made: text }, []) }),
  });
  stranger = await gantry.newUser("stranger");
});

afterAll(async () => {
  await second.close();
  await gantry.close();
  await Promise.all([chat.close(), cog.close()]);
});

afterEach(async () => {
  // A failed test must not leave open calls to the next.
  chat.cut();
  cog.finishAll();
  await waitFor("nothing to be live", async () => {
    const rows = await gantry.database.sql`select 1 from live_predictions`;
    return rows.length === 0;
  });
  expect(await pieces()).toEqual([]);
});

const headers = { accept: "application/x-ndjson" };
const pieces = async () => [...(await gantry.database.sql`select fragment from prediction_fragments`)];
const cancel = (id: string, model = "chat") =>
  gantry.call("POST", `/api/v1/admin/${model}/predict/cancel/?prediction_id=${id}`);

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Event = any;

/** Reads events as they arrive. */
function gather(events: AsyncIterable<Event>) {
  const all: Event[] = [];
  const end = (async () => {
    for await (const event of events) all.push(event);
  })();
  return { all, end, said: () => all.flatMap((event) => event.output_data?.output ?? []).join("") };
}

async function* readLines(response: Response): AsyncGenerator<Event> {
  let unread = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (unread + chunk).split("\n");
    unread = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

async function stream({
  model = "chat",
  node = gantry,
  signal,
}: {
  model?: string;
  node?: GantryNode;
  signal?: AbortSignal;
} = {}) {
  const response = await node.fetch("POST", `/api/v1/admin/${model}/predict/stream/`, {
    form: { prompt: "x" },
    ...(signal && { signal }),
  });
  const events = gather(readStream(response));
  // A disconnected follower does not read the end.
  events.end.catch(() => {});
  await waitFor("the acknowledgement", () => events.all.length > 0);
  return { ...events, id: events.all[0].prediction_id as string };
}

async function follow(id: string, { node = gantry, model = "chat", signal = new AbortController().signal } = {}) {
  const path = `/api/v1/admin/${model}/predict/async/result/?request_id=${id}`;
  const lines = gather(readLines(await node.fetch("GET", path, { headers, signal })));
  lines.end.catch(() => {});
  return lines;
}

async function replayed(id: string, model = "chat"): Promise<Event[]> {
  const lines = await follow(id, { model });
  await lines.end;
  return lines.all;
}

const saidIn = (lines: readonly Event[]) => lines.flatMap((line) => line.output_data?.output ?? []).join("");
const oneCall = () => waitFor("the upstream call", () => chat.open === 1);

test("is live for every follower on any node, starting with the earlier text", async () => {
  const own = await stream();
  await oneCall();
  chat.say("zero ", "o\u0000ne \ud83e");
  await waitFor("the stream to have it", () => own.said().length > 8);
  // Longer than the batching interval: without followers nothing is written.
  await sleep(400);
  expect(await pieces()).toEqual([]);
  const here = await follow(own.id);
  await waitFor("the text so far, here", () => here.said() === "zero o\u0000ne ");
  chat.say("\udd84 two ");
  const there = await follow(own.id, { node: second });
  const soFar = "zero o\u0000ne \u{1F984} two ";
  for (const lines of [here, there]) await waitFor("the text so far", () => lines.said() === soFar);
  chat.say("three");
  for (const lines of [own, here, there]) await waitFor("what is said now", () => lines.said() === `${soFar}three`);
  expect(chat.open).toBe(1);
  chat.end({ prompt_tokens: 1, completion_tokens: 4 });
  await Promise.all([own.end, here.end, there.end]);
  for (const lines of [here.all, there.all, await replayed(own.id)]) {
    expect(saidIn(lines)).toBe(`${soFar}three`);
    expect(lines[0]).toEqual(own.all[0]);
    expect(lines.at(-1)).toEqual(own.all.at(-1));
  }
});

test.each([
  ["cancelled", "followed", 499, "generation_cancelled"],
  ["cancelled", "not followed", 499, "generation_cancelled"],
  ["cut off", "followed", 502, "downstream_service_error"],
  ["cut off", "not followed", 502, "downstream_service_error"],
  ["left by its client", "followed", 499, "generation_cancelled"],
  ["left by its client", "not followed", 499, "generation_cancelled"],
])("is replayed after it was %s, %s", async (how, whether, status, type) => {
  const leaving = new AbortController();
  const own = await stream({ signal: leaving.signal });
  await oneCall();
  const followers = whether === "followed" ? [await follow(own.id), await follow(own.id, { node: second })] : [];
  for (const word of ["one ", "t\u0000wo \ud83e", "\udd84 "]) {
    chat.say(word);
    // Longer than the batching interval; the last word is still unwritten at the end.
    await sleep(400);
  }
  chat.say("three");
  const whole = "one t\u0000wo \u{1F984} three";
  await waitFor("the stream to have it", () => own.said() === whole);
  if (how === "cancelled") await cancel(own.id);
  else if (how === "cut off") chat.cut();
  else leaving.abort();
  await Promise.all(followers.map(({ end }) => end));
  await waitFor(
    "the end",
    async () => (await gantry.call("GET", "/api/v2/usage")).body.results[0].request_id === own.id,
  );
  const replays = [await replayed(own.id), await replayed(own.id)];
  for (const lines of [...followers.map(({ all }) => all), ...replays]) {
    expect(lines[0]).toEqual({ prediction_id: own.id });
    expect(saidIn(lines)).toBe(whole);
    expect(lines.at(-1)).toMatchObject({ status, detail: [{ type }] });
  }
  const path = `/api/v1/admin/chat/predict/async/result/?request_id=${own.id}`;
  expect((await gantry.call("GET", path, { headers, key: stranger })).status).toBe(404);
});

test("continues for others when a follower disconnects", async () => {
  const own = await stream();
  await oneCall();
  const leaving = new AbortController();
  const gone = await follow(own.id, { node: second, signal: leaving.signal });
  chat.say("one ");
  await waitFor("the first word", () => gone.said() === "one ");
  leaving.abort();
  chat.say("two ");
  const next = await follow(own.id);
  await waitFor("both words", () => next.said() === "one two ");
  chat.end({ prompt_tokens: 1, completion_tokens: 2 });
  await Promise.all([own.end, next.end]);
  expect(own.all.at(-1)).toMatchObject({ status: 200 });
  expect(next.all.at(-1)).toEqual(own.all.at(-1));
});

test("is live for a follower from before the start", async () => {
  const first = await stream({ model: "one" });
  await oneCall();
  const waiting = await stream({ model: "one" });
  const lines = await follow(waiting.id, { node: second, model: "one" });
  await sleep(100);
  chat.end({ prompt_tokens: 1, completion_tokens: 1 });
  await first.end;
  await oneCall();
  chat.say("my turn");
  await waitFor("its first words", () => lines.said() === "my turn");
  await cancel(waiting.id, "one");
  await lines.end;
  expect(lines.all.at(-1)).toMatchObject({ status: 499 });
  expect(saidIn(await replayed(waiting.id, "one"))).toBe("my turn");
});

test("is live although the notification of a follower was lost", async () => {
  const own = await stream();
  await oneCall();
  chat.say("one ");
  await waitFor("the stream to have it", () => own.said() === "one ");
  const cut = await gantry.database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and (query like 'listen%' or query = 'select 1')`;
  expect(cut.length).toBeGreaterThan(1);
  const lines = await follow(own.id);
  await waitFor("the text so far", () => lines.said() === "one ");
  chat.say("two");
  await waitFor("what is said now", () => lines.said() === "one two");
  chat.end({ prompt_tokens: 1, completion_tokens: 2 });
  await Promise.all([own.end, lines.end]);
  expect(saidIn(lines.all)).toBe("one two");
});

test("a long text is complete, live and after a failure", async () => {
  const own = await stream();
  await oneCall();
  const long = `${"word ".repeat(60_000)}\u{1F984}`;
  for (let at = 0; at < long.length; at += 1000) chat.say(long.slice(at, at + 1000));
  await waitFor("the stream to have it", () => own.said() === long);
  const lines = await follow(own.id, { node: second });
  await waitFor("all of it", () => lines.said() === long);
  chat.say(" end");
  await waitFor("the stream to have the rest", () => own.said() === `${long} end`);
  chat.cut();
  await lines.end;
  expect(lines.all.at(-1)).toMatchObject({ status: 502 });
  for (const said of [lines.said(), saidIn(await replayed(own.id))]) expect(said === `${long} end`).toBe(true);
});

test("nothing is stored without followers or without text", async () => {
  const own = await stream();
  await oneCall();
  await cancel(own.id);
  const lines = await replayed(own.id);
  expect(lines).toEqual([{ prediction_id: own.id }, expect.objectContaining({ status: 499 })]);
  const [row] = await gantry.database.sql`select said from ended_predictions where id = ${own.id}`;
  expect(row).toEqual({ said: null });
});

test("the transcript of a node considered dead is kept, and its fragments are removed", async () => {
  const own = await stream();
  await oneCall();
  const lines = await follow(own.id, { node: second });
  chat.say("last words");
  await waitFor("the words", () => lines.said() === "last words");
  await gantry.database.sql`update live_predictions set holder = 'node_that_died', claim = 2 where id = ${own.id}`;
  await Promise.all([own.end, lines.end]);
  expect(lines.all.at(-1)).toMatchObject({ status: 499, detail: [{ type: "generation_cancelled" }] });
  expect(saidIn(await replayed(own.id))).toBe("last words");
});

test("the transcript is kept when its node stops, followed or not", async () => {
  const stopping = await startGantry({ beside: gantry });
  const [followed, alone] = [await stream({ node: stopping }), await stream({ node: stopping })];
  await waitFor("both upstream calls", () => chat.open === 2);
  const lines = await follow(followed.id);
  chat.say("last words");
  for (const { said } of [followed, alone, lines]) await waitFor("the words", () => said() === "last words");
  await stopping.close();
  await lines.end;
  for (const all of [lines.all, await replayed(followed.id), await replayed(alone.id)]) {
    expect(saidIn(all)).toBe("last words");
    expect(all.at(-1)).toMatchObject({ status: 503, detail: [{ type: "service_unavailable" }] });
  }
});

test("a synchronous prediction with an Idempotency-Key can be followed to its end", async () => {
  const options = { form: { prompt: "x" }, headers: { "idempotency-key": "followed-1" } };
  const path = "/api/v1/admin/whole/predict";
  const first = gantry.call("POST", path, options);
  await waitFor("the upstream call", () => cog.open === 1);
  const [row] = await gantry.database.sql<{ id: string }[]>`select id from live_predictions`;
  const lines = await follow(row?.id ?? "", { node: second, model: "whole" });
  await sleep(100);
  cog.finishAll();
  const answer = await first;
  await lines.end;
  expect(lines.all).toEqual([
    { prediction_id: row?.id },
    { output_data: { made: "done" }, status: 200, files: {} },
    { output_data: {}, status: 200 },
  ]);
  expect((await gantry.call("POST", path, options)).body).toEqual(answer.body);
});

test("a queued prediction with an Idempotency-Key has one transcript for the first request and its repeat", async () => {
  const post = () =>
    gantry.fetch("POST", "/api/v1/admin/chat/predict/async/", {
      form: { prompt: "x" },
      headers: { ...headers, "idempotency-key": "followed-2" },
    });
  const first = gather(readLines(await post()));
  await oneCall();
  chat.say("one ");
  const repeat = gather(readLines(await post()));
  for (const lines of [first, repeat]) await waitFor("the word", () => lines.said() === "one ");
  chat.say("two");
  chat.end({ prompt_tokens: 1, completion_tokens: 2 });
  await Promise.all([first.end, repeat.end]);
  expect([first.said(), repeat.said()]).toEqual(["one two", "one two"]);
  expect(first.all[0]).toEqual(repeat.all[0]);
});
