import type { BackendRecord } from "@gantry/sdk";
import { count } from "../../../ui/format.ts";
import type { Tone } from "../../../ui/toast.ts";

type State = Pick<BackendRecord, "circuit" | "reason" | "failures">;

const states: Record<BackendRecord["circuit"], { label: string; tone: Tone }> = {
  closed: { label: "In use", tone: "good" },
  open: { label: "Paused", tone: "bad" },
  half_open: { label: "Testing", tone: "warn" },
};

export const stateOf = ({ circuit }: State) => states[circuit];

const reasons: Readonly<Record<string, string>> = {
  unreachable: "Not reachable",
  timeout: "No answer in time",
  cut: "Connection cut",
  secret: "Secret missing",
  failed: "Failed",
};

/** Why a backend is left out, for example "Answered 503, 5 failures in a row". Undefined while it is in use. */
export function pauseText({ circuit, reason, failures }: State): string | undefined {
  if (circuit === "closed") return undefined;
  const cause =
    reason === null ? "Failed" : /^\d{3}$/.test(reason) ? `Answered ${reason}` : (reasons[reason] ?? reason);
  return failures > 1 ? `${cause}, ${count(failures)} failures in a row` : cause;
}

/** For example "120 calls, 3 failed". */
export function callsText(figures: BackendRecord["last_hour"]): string {
  if (figures === null) return "No calls";
  const calls = figures.calls === 1 ? "1 call" : `${count(figures.calls)} calls`;
  return figures.failures === 0 ? calls : `${calls}, ${count(figures.failures)} failed`;
}
