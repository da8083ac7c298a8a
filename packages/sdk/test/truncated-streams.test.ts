import { expect, test } from "vitest";
import { createClient } from "../src/index.ts";

/** A service that is taken away between two events ends its answer as if nothing were wrong. */
function answering(...bodies: string[]) {
  return answeringWith({}, ...bodies);
}

const headers = { "x-request-id": "req_1", "x-prediction-id": "pred_1" };

function answeringWith({ retries }: { retries?: number }, ...bodies: string[]) {
  let asked = 0;
  const client = createClient({
    url: "http://service.test",
    fetch: async () => new Response(bodies[Math.min(asked++, bodies.length - 1)], { headers }),
    retries,
  });
  return { client, asked: () => asked };
}

/** What the answer named before it broke off. */
const ofWhich = { type: "connection_error", predictionId: "pred_1", requestId: "req_1" };
const piece = { output_data: { output: ["a"] }, status: 200 };
const end = { output_data: {}, status: 200 };

test("a stream without its last event has not ended", async () => {
  const sse = (...events: object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const input = { prompt: "x" };
  const whole = answering(sse({ prediction_id: "pred_1" }, piece, end));
  expect(await Array.fromAsync(whole.client.stream("a/b", input))).toHaveLength(3);
  const cut = answering(sse({ prediction_id: "pred_1" }, piece));
  await expect(Array.fromAsync(cut.client.stream("a/b", input))).rejects.toMatchObject(ofWhich);
  expect(cut.asked()).toBe(1);
  const garbled = answering(`${sse({ prediction_id: "pred_1" })}data: <html>\n\n`);
  await expect(Array.fromAsync(garbled.client.stream("a/b", input))).rejects.toMatchObject(ofWhich);
  const followed = answeringWith({ retries: 0 }, `${JSON.stringify({ prediction_id: "pred_1" })}\n`);
  await expect(Array.fromAsync(followed.client.follow("a/b", "pred_1"))).rejects.toMatchObject(ofWhich);
  // The head of the answer had come, and with it the names; of its body half.
  const half = answeringWith({ retries: 0 }, '{"prediction_id":');
  await expect(half.client.predict("a/b", input)).rejects.toMatchObject(ofWhich);
});

test("a queued run that is followed is asked for again, and a failure that is retryable is not taken for a break", async () => {
  const lines = (...events: object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");
  const cut = answering(lines({ prediction_id: "pred_1" }, piece), lines({ prediction_id: "pred_1" }, piece, end));
  expect(await Array.fromAsync(cut.client.follow("a/b", "pred_1"))).toEqual([{ prediction_id: "pred_1" }, piece, end]);
  expect(cut.asked()).toBe(2);
  const issue = { loc: ["body"], msg: "It took too long", type: "generation_timeout" };
  const failed = answering(lines({ prediction_id: "pred_1" }, { detail: [issue], status: 504 }));
  await expect(Array.fromAsync(failed.client.follow("a/b", "pred_1"))).rejects.toMatchObject({
    status: 504,
    type: "generation_timeout",
    retryable: true,
  });
  expect(failed.asked()).toBe(1);
});
