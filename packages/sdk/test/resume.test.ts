import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient } from "../src/index.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const away = () => Promise.reject(new TypeError("fetch failed"));
const completed = 'id: 2\nevent: completed\ndata: {"output":{}}\n\n';

/** A stream that says `text` and breaks after so many seconds. */
function breaking(text: string, seconds: number): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (text !== "") controller.enqueue(new TextEncoder().encode(text));
      setTimeout(() => controller.error(new TypeError("terminated")), seconds * 1000);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** What comes of following a run at a service that gives these answers, one a connection, the last one again and again. */
async function followed(...answers: (() => Response | Promise<Response>)[]) {
  let asked = 0;
  const client = createClient({
    url: "http://service.test",
    fetch: async () => (answers[asked++] ?? answers.at(-1))?.() ?? away(),
  });
  const began = performance.now();
  let took = 0;
  const reading = Array.fromAsync(client.runs.events("run_1")).finally(() => {
    took = (performance.now() - began) / 1000;
  });
  const [[outcome]] = await Promise.all([Promise.allSettled([reading]), vi.advanceTimersByTimeAsync(1_000_000)]);
  return { outcome, took, asked };
}

test("a run that is silent for long, as while it waits for an approval, is followed over a break", async () => {
  const { outcome, asked } = await followed(
    () => breaking("", 500),
    away,
    () => breaking("", 200),
    () => breaking(completed, 1),
  );
  expect(outcome).toMatchObject({ status: "fulfilled", value: [{ type: "completed" }] });
  expect(asked).toBe(4);
});

test("a service that is away for two minutes after a silence is given up then", async () => {
  const { outcome, took } = await followed(() => breaking("", 500), away);
  expect(outcome).toMatchObject({ status: "rejected", reason: { type: "connection_error" } });
  expect(took).toBeGreaterThan(620);
  expect(took).toBeLessThan(640);
});

test("one that only opens connections and breaks them is given up as well", async () => {
  const { outcome, took } = await followed(() => breaking("", 1));
  expect(outcome).toMatchObject({ status: "rejected", reason: { type: "connection_error" } });
  expect(took).toBeLessThan(140);
});
