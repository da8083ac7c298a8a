import { beforeEach, expect, test } from "vitest";
import { createClient } from "../src/index.ts";

const asked: string[] = [];
let answer: () => Response;
const client = createClient({
  url: "http://service.test",
  retries: 0,
  fetch: async (address) => {
    asked.push(String(address));
    return answer();
  },
});

beforeEach(() => {
  asked.length = 0;
  answer = () => Response.json({ confirmations: [], runs: [], total: 0, limit: 20, offset: 0 });
});

test("traces and confirmations are read at their addresses", async () => {
  await client.runs.trace("run_1");
  await client.runs.traceStep("run_1", "run_1-2-0");
  await client.confirmations.list({ status: "pending", limit: 1 });
  await client.runs.list({ agent_id: "agt_1", mine: true, phase: "awaiting_confirmation", q: "x" });
  await client.runs.list({ from_date: new Date(0) });
  expect(asked.map((address) => address.slice("http://service.test".length))).toEqual([
    "/v1/runs/run_1/trace",
    "/v1/runs/run_1/trace/run_1-2-0",
    "/v1/confirmations?status=pending&limit=1",
    "/v1/runs?phase=awaiting_confirmation&q=x&agent_id=agt_1",
    "/v1/runs?from_date=1970-01-01T00%3A00%3A00.000Z",
  ]);
});

test("all confirmations are iterated over, page by page", async () => {
  const all = Array.from({ length: 150 }, (_, n) => ({ id: `conf_${n}` }));
  answer = () => {
    const { searchParams } = new URL(asked.at(-1) ?? "");
    const [offset, limit] = [Number(searchParams.get("offset")), Number(searchParams.get("limit"))];
    return Response.json({ confirmations: all.slice(offset, offset + limit), total: all.length, limit, offset });
  };
  const seen: string[] = [];
  for await (const { id } of client.confirmations.each({ status: "pending" })) seen.push(id);
  expect(seen).toEqual(all.map(({ id }) => id));
  expect(asked.every((address) => address.includes("status=pending"))).toBe(true);
});

test("text comes between the events and does not move the resume point", async () => {
  const frames = [
    'id: 1\nevent: planning\ndata: {"message":"x"}',
    'event: text\ndata: {"step":1,"call_id":"pred_1","kind":"text","text":"Hi","offset":0}',
    'id: 2\nevent: completed\ndata: {"output":{}}',
  ];
  answer = () =>
    new Response(frames.map((frame) => `${frame}\n\n`).join(""), { headers: { "content-type": "text/event-stream" } });
  const seen: unknown[] = [];
  for await (const { id, type, data } of client.runs.events("run_1", { text: true })) seen.push([id, type, data]);
  expect(asked).toEqual(["http://service.test/v1/runs/run_1/events?text=true"]);
  expect(seen).toEqual([
    [1, "planning", { message: "x" }],
    [null, "text", { step: 1, call_id: "pred_1", kind: "text", text: "Hi", offset: 0 }],
    [2, "completed", { output: {} }],
  ]);
});
