import { expect, test } from "vitest";
import type { Run } from "../run.ts";
import type { RunChange } from "../run-writer.ts";
import { RunSession } from "./session.ts";

const written: RunChange[] = [];

function sessionOf({ timeoutMs = 60_000 } = {}): RunSession {
  const run = { id: "run_1", ancestors: [], claim: 1, holder: "node_1", writes: 0, timeoutMs, activeMs: 0 };
  written.length = 0;
  return new RunSession(run as unknown as Run, async (change) => {
    written.push(change);
    return { n: 0, written: true, cancel: false, room: null, spare: null, held: true, wake: false };
  });
}

test("a session counts the bytes of the steps, arguments and results that it writes", async () => {
  const session = sessionOf();
  session.historyBytes = 1000;
  const call = { step: 1, position: 0, call_id: "call_1", tool: "look", kind: "read", status: "started" } as const;
  const message = { text: "é", toolCalls: [] };
  const used = { input_tokens: 1, output_tokens: 1, cached_tokens: 0, cache_write_tokens: 0, cost_micros: 0 };
  await session.write({
    step: { n: 1, kind: "work", message, prompt: "Go on.", prediction_id: "pred_1", ...used },
    calls: [{ ...call, arguments: { a: 1 } }],
  });
  expect(session.historyBytes).toBe(1000 + Buffer.byteLength(JSON.stringify(message)) + 6 + 7);
  const before = session.historyBytes;
  await session.write({ ends: [{ step: 1, position: 0, result: "seen", is_error: false }], events: [] });
  expect(session.historyBytes).toBe(before + 4);
  session.close();
});

test("a pause is neither active time nor ended by the time limit", async () => {
  const session = sessionOf({ timeoutMs: 300 });
  await session.pause(600);
  expect(session.signal.aborted).toBe(false);
  await session.write({ release: true });
  expect(written[0]?.active_ms).toBeLessThan(300);
  session.close();
});

test("a pause ends when the run is stopped or the node shuts down", async () => {
  for (const end of [
    (session: RunSession) => session.stop("cancelled"),
    (session: RunSession) => session.stop("shutdown"),
    (session: RunSession) => session.leave(),
  ]) {
    const session = sessionOf();
    const pause = session.pause(3_600_000);
    end(session);
    await pause;
    session.close();
  }
  const leaving = sessionOf();
  leaving.leave();
  await leaving.pause(3_600_000);
  expect(leaving.isLeaving).toBe(true);
  leaving.close();
});
