import type { PredictionSummary } from "@gantry/sdk";

export interface Phase {
  name: "queued" | "ran";
  seconds: number;
  /** It has not ended. */
  isOpen: boolean;
  /** Of the whole time, in percent. */
  share: number;
}

type Timed = Pick<PredictionSummary, "status" | "created_at" | "started_at" | "queued_time" | "inference_time">;

/** So that a short phase remains visible. */
const leastShare = 2;

/** The time in the queue and the time that the model ran. Empty if neither is known. */
export function phasesOf(prediction: Timed, now: number): Phase[] {
  const queued = queuedSeconds(prediction, now);
  const ran = ranSeconds(prediction, now);
  const phases = [
    ...(queued === undefined
      ? []
      : [{ name: "queued" as const, seconds: queued, isOpen: prediction.status === "waiting" }]),
    ...(ran === undefined ? [] : [{ name: "ran" as const, seconds: ran, isOpen: prediction.status === "running" }]),
  ];
  const total = phases.reduce((sum, { seconds }) => sum + seconds, 0);
  const shares = phases.map(({ seconds }) => (seconds === 0 ? 0 : Math.max(leastShare, (100 * seconds) / total)));
  const sum = shares.reduce((all, share) => all + share, 0) || 1;
  return phases.map((phase, n) => ({ ...phase, share: (100 * (shares[n] ?? 0)) / sum }));
}

const between = (from: string, to: string | number): number =>
  Math.max(0, ((typeof to === "number" ? to : Date.parse(to)) - Date.parse(from)) / 1000);

function queuedSeconds({ status, created_at, queued_time, started_at }: Timed, now: number): number | undefined {
  if (queued_time !== null) return queued_time;
  if (started_at !== null) return between(created_at, started_at);
  return status === "waiting" ? between(created_at, now) : undefined;
}

function ranSeconds({ status, started_at, inference_time }: Timed, now: number): number | undefined {
  if (inference_time !== null) return inference_time;
  return status === "running" && started_at !== null ? between(started_at, now) : undefined;
}
