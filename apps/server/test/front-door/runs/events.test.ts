import { setTimeout as sleep } from "node:timers/promises";
import { runEventList } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { gate, type Seen, useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform({ context_window: 2_000_000 });
const { makeAgent, run, start, read, ended, types } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const js = (code: string) => ({ name: "run_javascript", args: { code } });

const stream = (runId: string, options: { query?: string; headers?: Record<string, string>; on?: GantryNode } = {}) =>
  (options.on ?? platform.gantry).fetch("GET", `/v1/runs/${runId}/events${options.query ?? ""}`, {
    headers: options.headers ?? {},
  });
const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
const namesIn = (text: string) => [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

/** A reader that returns the text received so far. */
async function follow(response: Response) {
  const seen = { text: "", isOver: false };
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) seen.text += decoder.decode(chunk, { stream: true });
    seen.isOver = true;
  })();
  return { seen, reading };
}

describe("the events of a run", () => {
  let beside: GantryNode;
  beforeAll(async () => {
    beside = await startGantry({ beside: platform.gantry });
  });
  afterAll(() => beside.close());

  test("are streamed with ids, resumed after the last one, and 204 when there is nothing more", async () => {
    platform.llm.script = inTurn({ calls: [js("1")] }, { text: "one" });
    const id = await start(await makeAgent({ tools: ["run_javascript"] }));
    const response = await stream(id);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("cache-control")).toContain("no-cache");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("x-request-id")).not.toBeNull();
    const text = await response.text();
    expect(idsIn(text)).toEqual([1, 2, 3, 4]);
    expect(namesIn(text)).toEqual(["planning", "tool_call", "tool_result", "completed"]);
    const tied = '"call_id":"call_[0-9a-f]{12}"';
    const called = `{"tool":"run_javascript","arguments":{"code":"1"},${tied}}`;
    expect(text).toMatch(new RegExp(`^event: tool_call\\ndata: ${called}$`, "m"));
    expect(text).toMatch(
      new RegExp(`^event: tool_result\\ndata: {"tool":"run_javascript","result":"1",${tied}}$`, "m"),
    );
    expect(text).toContain('data: {"output":{"text":"one"}}');
    for (const options of [{ headers: { "last-event-id": "2" } }, { query: "?after=2" }]) {
      expect(idsIn(await (await stream(id, options)).text())).toEqual([3, 4]);
    }
    // A reconnecting browser sends the header with an unchanged address.
    const both = await stream(id, { query: "?after=0", headers: { "last-event-id": "3" } });
    expect(idsIn(await both.text())).toEqual([4]);
    for (const after of [4, 5, 999]) expect((await stream(id, { query: `?after=${after}` })).status).toBe(204);
    for (const after of ["x", "-1", "1.5", "9999999999", "1&after=2"]) {
      expect((await call("GET", `/v1/runs/${id}/events?after=${after}`)).status, after).toBe(400);
      expect((await call("GET", `/v1/runs/${id}/events/list?after=${after}`)).status, after).toBe(400);
    }
    expect((await call("GET", `/v1/runs/${id}/events`, { headers: { "last-event-id": "x" } })).status).toBe(400);
    const list = (await call("GET", `/v1/runs/${id}/events/list?after=3`)).body;
    expect(list).toEqual({ events: [expect.objectContaining({ type: "completed" })] });
  });

  test("are replayed and then live, from either node, and the stream closes with the run", async () => {
    const next = gate();
    const last = gate();
    platform.llm.script = async (request) => {
      const told = toolResults(request).length;
      if (told === 1) await next.promise;
      if (told === 2) await last.promise;
      return told < 2 ? { text: `turn ${told}`, calls: [js(`${told}`)] } : { text: "end" };
    };
    const id = await start(await makeAgent({ tools: ["run_javascript"] }));
    await waitFor("the first turn", async () => (await types(id)).length === 4);
    const readers = await Promise.all([platform.gantry, beside].map(async (on) => follow(await stream(id, { on }))));
    const late = await follow(await stream(id, { query: "?after=3" }));
    const ahead = await follow(await stream(id, { query: "?after=100" }));
    await waitFor("the replay", () => [...readers, late].every(({ seen }) => idsIn(seen.text).at(-1) === 4));
    expect(idsIn(late.seen.text)).toEqual([4]);
    next.open();
    await waitFor("the second turn", () => readers.every(({ seen }) => idsIn(seen.text).length === 7));
    expect(readers.every(({ seen }) => !seen.isOver)).toBe(true);
    last.open();
    await Promise.all([...readers, late, ahead].map(({ reading }) => reading));
    for (const { seen } of readers) {
      expect(idsIn(seen.text)).toEqual(upTo(8));
      expect(namesIn(seen.text).at(-1)).toBe("completed");
    }
    expect(idsIn(late.seen.text)).toEqual([4, 5, 6, 7, 8]);
  });

  test("do not make a HEAD request wait", async () => {
    const held = gate();
    platform.llm.script = async () => {
      await held.promise;
      return { text: "done" };
    };
    const id = await start(await makeAgent());
    const head = () => platform.gantry.fetch("HEAD", `/v1/runs/${id}/events`, { signal: AbortSignal.timeout(2000) });
    const live = await head();
    expect(live.status).toBe(200);
    expect(live.headers.get("content-type")).toContain("text/event-stream");
    expect(live.headers.get("x-request-id")).not.toBeNull();
    expect(await live.text()).toBe("");
    held.open();
    await ended(id);
    expect((await head()).status).toBe(200);
  });

  test("a failed run's last event is error, with its type and message", async () => {
    platform.llm.script = () => ({ status: 400 });
    const { body } = await run(await makeAgent());
    const text = await (await stream(body.id)).text();
    expect(namesIn(text)).toEqual(["planning", "error"]);
    expect(text).toContain(`data: ${JSON.stringify(body.error)}`);
    const list = (await call("GET", `/v1/runs/${body.id}/events/list`)).body;
    expect(runEventList.parse(list)).toEqual(list);
    expect(list.events.at(-1)).toEqual({ type: "error", timestamp: expect.any(String), error: body.error });
  });

  test("a disconnect does not stop the run", async () => {
    const held = gate();
    platform.llm.script = async () => {
      await held.promise;
      return { text: "on my own" };
    };
    const id = await start(await makeAgent());
    const leaving = new AbortController();
    const response = await platform.gantry.fetch("GET", `/v1/runs/${id}/events`, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await sleep(100);
    expect((await read(id)).status).toBe("running");
    held.open();
    expect(await ended(id)).toMatchObject({ status: "done" });
  });

  test("of a very long run are paged, in the list and in the stream", async () => {
    const { body } = await run(await makeAgent());
    const { sql } = platform.gantry.database;
    await sql`update run_events set n = 2300 where run_id = ${body.id} and n = 2`;
    await sql`
      insert into run_events (run_id, n, type, data)
      select ${body.id}, n, 'reasoning', json_build_object('message', n) from generate_series(2, 2299) n`;
    await sql`update runs set last_event = 2300 where id = ${body.id}`;
    const path = `/v1/runs/${body.id}/events/list`;
    const messages: unknown[] = [];
    let pages = 0;
    for (let after: number | undefined = 0; after !== undefined; pages++) {
      const page: Seen = (await call("GET", `${path}?after=${after}`)).body;
      messages.push(...page.events.map((event: { message: unknown }) => event.message));
      after = page.next_after;
    }
    expect(pages).toBe(3);
    expect(messages).toHaveLength(2300);
    expect(messages.slice(1, -1)).toEqual(upTo(2299).slice(1));
    expect(idsIn(await (await stream(body.id)).text())).toEqual(upTo(2300));
  });

  test("text of several lines stays one event", async () => {
    platform.llm.script = inTurn({ text: "a\n\ndata: b\r\nevent: c", calls: [js("1")] }, { text: "x\n\ny" });
    const { body } = await run(await makeAgent({ tools: ["run_javascript"] }));
    const text = await (await stream(body.id)).text();
    expect(idsIn(text)).toEqual([1, 2, 3, 4, 5]);
    expect(text).toContain('data: {"message":"a\\n\\ndata: b\\r\\nevent: c"}');
  });
});
