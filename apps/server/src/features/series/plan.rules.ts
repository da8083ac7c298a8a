import type { SeriesGroup, SeriesMetric, SeriesStep } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import type { Scope } from "../accounts/index.ts";
import type { Micros1970, Moment } from "../billing/index.ts";
import { microsOfMoment } from "../billing/index.ts";

export interface SeriesRequest {
  metric: SeriesMetric;
  from: Moment | undefined;
  to: Moment | undefined;
  step: SeriesStep | undefined;
  groupBy: SeriesGroup;
  model: string | undefined;
  keyId: string | undefined;
  mode: string | undefined;
}

/** Steps of one length in UTC. `from` is included, `to` is not. */
export interface Steps {
  step: SeriesStep;
  from: Micros1970;
  to: Micros1970;
  /** The end for queries: unbounded if the last step is the current one, because rows arrive meanwhile. */
  until: Micros1970;
  starts: Micros1970[];
}

const [minute, hour, day] = [60_000_000, 3_600_000_000, 86_400_000_000];
export const stepMicros: Readonly<Record<SeriesStep, number>> = { minute, hour, day };

/** The longest range of each step. One step more is allowed, because a range rarely begins with a step. */
const longest: Readonly<Record<SeriesStep, { steps: number; text: string; next: string }>> = {
  minute: { steps: 180, text: "3 hours", next: " or step=hour" },
  hour: { steps: 31 * 24, text: "31 days", next: " or step=day" },
  day: { steps: 400, text: "400 days", next: "" },
};
const longestByRows = 31 * day;
const defaultRange = day;

export function planSteps({ from, to, step: wanted }: SeriesRequest, now: Micros1970): Steps {
  const asked = to === undefined ? now : microsOfMoment(to);
  const start = from === undefined ? asked - defaultRange : microsOfMoment(from);
  if (start >= asked) refuse("from_date", "from_date must be before to_date");
  const step = wanted ?? stepFor(asked - start);
  const unit = stepMicros[step];
  const first = Math.floor(start / unit) * unit;
  const whole = Math.ceil(asked / unit) * unit;
  const end = Math.min(whole, now);
  const starts: Micros1970[] = [];
  const { steps, text, next } = longest[step];
  if ((whole - first) / unit > steps + 1) {
    refuse("step", `step=${step} covers at most ${text}. Choose a shorter range${next}.`);
  }
  for (let at = first; at < end; at += unit) starts.push(at);
  const until = whole > now ? Number.POSITIVE_INFINITY : whole;
  return { step, from: first, to: Math.max(end, first), until, starts };
}

function stepFor(length: number): SeriesStep {
  if (length <= 3 * hour) return "minute";
  return length <= 3 * day ? "hour" : "day";
}

/** Sums exist by user, hour and model. Everything else is counted by rows, in a range that a request can wait for. */
export function needsRows(request: SeriesRequest, steps: Steps, onlyKeyIds: Scope["onlyKeyIds"]): boolean {
  const { groupBy, keyId, mode } = request;
  const byRows = onlyKeyIds !== null || keyId !== undefined || mode !== undefined || !isInSums(groupBy);
  if (byRows && steps.to - steps.from > longestByRows + day) {
    refuse("from_date", "By key, mode or status, the range is at most 31 days. Choose a shorter range.");
  }
  return byRows || steps.step === "minute";
}

const isInSums = (groupBy: SeriesGroup): boolean => groupBy === "none" || groupBy === "model";

/** What `scope=service` cannot tell apart: there are sums by model only. */
export function refuseForService(request: SeriesRequest): void {
  const { groupBy, keyId, mode, step } = request;
  if (keyId !== undefined) refuse("key_id", "scope=service covers all keys. Leave out key_id.");
  if (mode !== undefined) refuse("mode", "scope=service covers all modes. Leave out mode.");
  if (!isInSums(groupBy)) refuse("group_by", "scope=service can be grouped by model only.");
  if (step === "minute") refuse("step", "scope=service has no minutes for this metric. Choose step=hour.");
}

function refuse(name: string, text: string): never {
  throw fault("value_error", text, { loc: ["query", name] });
}
