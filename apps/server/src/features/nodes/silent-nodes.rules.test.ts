import { expect, test } from "vitest";
import { followHeartbeats, type StandingHeartbeat, silentAmong } from "./silent-nodes.rules.ts";

const least = { upMs: 10_000, beats: 4 };
const dead = { nodeId: "dead", at: "13:00:00.000001" };

/** Looks at the heartbeats once a second; this process's own is moved `beats` times in each. */
function silentAfter(seconds: number, heartbeats: (second: number) => (typeof dead)[], beats = 1): string[] {
  let standing: StandingHeartbeat[] = [];
  let silent: StandingHeartbeat[] = [];
  for (let second = 0; second <= seconds; second++) {
    const time = { upMs: second * 1_000, beats: second * beats };
    standing = followHeartbeats(standing, heartbeats(second), time);
    silent = silentAmong(standing, time, least);
  }
  return silent.map(({ nodeId }) => nodeId);
}

test("a heartbeat that stands still is silent after the time, one that moves is not", () => {
  const living = (second: number) => ({ nodeId: "living", at: `13:00:${second}` });
  expect(silentAfter(9, (second) => [dead, living(second)])).toEqual([]);
  expect(silentAfter(10, (second) => [dead, living(second)])).toEqual(["dead"]);
});

test("not while this process cannot move its own: then the database is away for both", () => {
  expect(silentAfter(60, () => [dead], 0)).toEqual([]);
});

test("one that was gone meanwhile begins anew", () => {
  expect(silentAfter(14, (second) => (second === 5 ? [] : [dead]))).toEqual([]);
});
