import type { Heartbeat } from "./store.ts";

/** This process's own time, which nobody sets, and how often it has moved its own heartbeat. */
export interface OwnTime {
  upMs: number;
  beats: number;
}

export interface StandingHeartbeat extends Heartbeat {
  seenFirst: OwnTime;
}

/** Heartbeats as they stand now, each with when it was first seen to stand there. */
export function followHeartbeats(
  before: readonly StandingHeartbeat[],
  now: readonly Heartbeat[],
  time: OwnTime,
): StandingHeartbeat[] {
  return now.map((one) => {
    const same = before.find(({ nodeId, at }) => nodeId === one.nodeId && at === one.at);
    return same ?? { ...one, seenFirst: time };
  });
}

/** Those that have not moved for so long, while this process moved its own so often. */
export function silentAmong(
  standing: readonly StandingHeartbeat[],
  { upMs, beats }: OwnTime,
  least: OwnTime,
): StandingHeartbeat[] {
  return standing.filter(
    ({ seenFirst }) => upMs - seenFirst.upMs >= least.upMs && beats - seenFirst.beats >= least.beats,
  );
}
