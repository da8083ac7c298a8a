import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../src/index.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const away = () => {
  throw new TypeError("fetch failed");
};
const refusal = () => Response.json({ detail: [] }, { status: 503, headers: { "retry-after": "1" } });
const ended = { infer_details: { status: 200, request_id: "pred_1" }, response: { output: "x" }, files: {} };
const answers = {
  prediction: { inference_responses: [ended] },
  run: { id: "run_1", status: "done" },
};

/** A service that answers as `answer` says, by the seconds since the first request, and how often it was asked. */
function servedBy(answer: (seconds: number, path: string) => Response, retries?: number) {
  const since = performance.now();
  const service = { asked: 0 };
  const client = createClient({
    url: "http://service.test",
    retries,
    fetch: async (input) => {
      service.asked++;
      return answer((performance.now() - since) / 1000, new URL(String(input)).pathname);
    },
  });
  return Object.assign(service, {
    client,
    ways: [
      (signal?: AbortSignal) => client.waitFor("a/b", "pred_1", { signal }),
      (signal?: AbortSignal) => client.runs.waitFor("run_1", { signal }),
    ],
  });
}

const wayNumbers = [0, 1];
const settled = async (work: Promise<unknown> | undefined) => {
  const [outcome] = await Promise.all([Promise.allSettled([work]), vi.advanceTimersByTimeAsync(400_000)]);
  return outcome[0];
};

describe.each(wayNumbers)("who waits for an end (way %i)", (way) => {
  test("does so while the service is away for a minute, and again", async () => {
    let backAt: number | undefined;
    const { ways } = servedBy((seconds, path) => {
      if (seconds < 70) return away();
      if (backAt === undefined) {
        backAt = seconds;
        return Response.json(pending(path));
      }
      if (seconds < backAt + 70) return refusal();
      return Response.json(path.includes("/runs/") ? answers.run : answers.prediction);
    });
    expect(await settled(ways[way]?.())).toMatchObject({ status: "fulfilled" });
  });

  test("gives up when it is away for two minutes, and at once without retries", async () => {
    const gone = servedBy(away);
    const began = performance.now();
    let took = 0;
    const waiting = gone.ways[way]?.().finally(() => {
      took = performance.now() - began;
    });
    expect(await settled(waiting)).toMatchObject({ status: "rejected", reason: { type: "connection_error" } });
    expect(took).toBeGreaterThan(120_000);
    expect(took).toBeLessThan(140_000);
    const hasty = servedBy(away, 0);
    expect(await settled(hasty.ways[way]?.())).toMatchObject({ status: "rejected" });
    expect(hasty.asked).toBe(1);
  });

  test("hears at once that there is nothing to wait for, or that it was aborted", async () => {
    const missing = servedBy(() => Response.json({ detail: "Prediction not found" }, { status: 404 }));
    expect(await settled(missing.ways[way]?.())).toMatchObject({ status: "rejected", reason: { status: 404 } });
    expect(missing.asked).toBe(1);
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(new Error("enough")), 30_000);
    const gone = servedBy(away);
    expect(await settled(gone.ways[way]?.(leaving.signal))).toMatchObject({ reason: { message: "enough" } });
  });
});

function pending(path: string): unknown {
  if (path.includes("/runs/")) return { id: "run_1", status: "running" };
  return { inference_responses: [{ ...ended, infer_details: { status: 202, request_id: "pred_1" } }] };
}
