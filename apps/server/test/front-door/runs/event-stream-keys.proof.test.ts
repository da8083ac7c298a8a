import { get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, start, ended } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

let beside: GantryNode;
beforeAll(async () => {
  beside = await startGantry({ beside: platform.gantry });
});
afterAll(() => beside.close());

/** A user with a key that will be revoked and one that stays. */
async function newPerson() {
  const { name, key: lost } = await platform.newUser();
  const kept: string = (await call("POST", `/api/v2/admin/users/${name}/keys`, { json: {} })).body.key;
  const { results } = (await call("GET", "/api/v2/keys", { key: kept })).body;
  const lostId: string = results.find((one: { public: string }) => lost.includes(one.public)).id;
  return { name, lost, kept, lostId };
}

interface Reader {
  text: string;
  /** When the stream ended, and whether cleanly. */
  over: { at: number; isWhole: boolean } | undefined;
}

async function read(on: GantryNode, runId: string, key: string): Promise<Reader> {
  const headers = { "x-api-key": key };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${on.url}/v1/runs/${runId}/events`, { headers, agent: false }, resolve).on("error", reject);
  });
  expect(response.statusCode).toBe(200);
  const reader: Reader = { text: "", over: undefined };
  response.setEncoding("utf8").on("data", (chunk: string) => {
    reader.text += chunk;
  });
  response.on("error", () => {});
  response.on("close", () => {
    reader.over = { at: performance.now(), isWhole: response.complete };
  });
  return reader;
}

/** A started run that continues when the gate opens. */
async function heldRun(key: string) {
  const held = gate();
  platform.llm.script = async (request) => {
    if (toolResults(request).length > 0) return { text: "the end" };
    await held.promise;
    return { calls: [{ name: "run_javascript", args: { code: "'a result'" } }] };
  };
  const id = await start(await makeAgent({ tools: ["run_javascript"] }, key), {}, { key });
  return { id, open: held.open };
}

describe("a reader of a run's events", () => {
  test("gets none once its key is revoked, on any node, and does not learn the run's end", async () => {
    const person = await newPerson();
    const { id, open } = await heldRun(person.kept);
    const here = await read(platform.gantry, id, person.lost);
    const there = await read(beside, id, person.lost);
    const other = await read(platform.gantry, id, person.kept);
    await waitFor("the first event", () => [here, there, other].every(({ text }) => text.includes("event: planning")));
    // A key that works keeps its stream.
    await sleep(1500);
    expect([here, there, other].map(({ over }) => over)).toEqual([undefined, undefined, undefined]);
    expect((await call("DELETE", `/api/v2/keys/${person.lostId}`, { key: person.kept })).status).toBe(204);
    await waitFor("the streams to end", () => here.over !== undefined && there.over !== undefined);
    for (const { text, over } of [here, there]) {
      expect(over?.isWhole).toBe(true);
      expect(text.match(/^event: \w+$/gm)).toEqual(["event: planning"]);
    }
    for (const node of [platform.gantry, beside]) {
      const again = await node.call("GET", `/v1/runs/${id}/events`, { key: person.lost });
      expect([again.status, again.body.error.type]).toEqual([401, "unauthorized"]);
    }
    open();
    expect(await ended(id, person.kept)).toMatchObject({ status: "done" });
    await waitFor("the other's stream to end", () => other.over !== undefined);
    expect(other.text).toContain("a result");
    expect(other.text).toContain("event: completed");
  });

  test("gets none once its user is disabled or its key is rotated", async () => {
    const [disabled, rotated] = [await newPerson(), await newPerson()];
    const [first, second] = [await heldRun(disabled.kept), await heldRun(rotated.kept)];
    const readers = [
      await read(platform.gantry, first.id, disabled.lost),
      await read(platform.gantry, first.id, disabled.kept),
      await read(platform.gantry, second.id, rotated.lost),
    ];
    await waitFor("the first events", () => readers.every(({ text }) => text.includes("event: planning")));
    const path = `/api/v2/admin/users/${disabled.name}`;
    expect((await call("PATCH", path, { json: { disabled: true } })).status).toBe(200);
    const rotate = `/api/v2/keys/${rotated.lostId}/rotate`;
    expect((await call("POST", rotate, { key: rotated.kept, json: { grace_seconds: 0 } })).status).toBe(200);
    await waitFor("the streams to end", () => readers.every(({ over }) => over !== undefined));
    for (const { text } of readers) expect(text).not.toMatch(/event: (completed|error|tool_call)/);
    first.open();
    second.open();
    await ended(second.id, rotated.kept);
  });

  test("does not get buffered events after losing access", async () => {
    const person = await newPerson();
    const id = await start(await makeAgent({}, person.kept), {}, { key: person.kept });
    await ended(id, person.kept);
    // 30 MB: far more than the connection buffers.
    const { sql } = platform.gantry.database;
    await sql`update run_events set n = 500 where run_id = ${id} and n = 2`;
    await sql`
      insert into run_events (run_id, n, type, data)
      select ${id}, n, 'reasoning', json_build_object('message', repeat('x', 60000)) from generate_series(2, 499) n`;
    await sql`update runs set last_event = 500 where id = ${id}`;
    const headers = { "x-api-key": person.lost };
    const slow = await new Promise<IncomingMessage>((resolve) => {
      get(`${platform.gantry.url}/v1/runs/${id}/events`, { headers, agent: false }, resolve);
    });
    slow.pause();
    expect((await call("DELETE", `/api/v2/keys/${person.lostId}`, { key: person.kept })).status).toBe(204);
    await sleep(1000);
    let taken = 0;
    slow.on("data", (chunk: Buffer) => {
      taken += chunk.length;
    });
    slow.on("error", () => {});
    slow.resume();
    await waitFor("its end", () => slow.closed);
    expect(taken).toBeLessThan(20_000_000);
    expect(slow.complete).toBe(false);
  }, 30_000);
});
