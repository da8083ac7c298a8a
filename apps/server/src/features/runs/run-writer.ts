import { setTimeout } from "node:timers/promises";
import type { RunPhase } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Micros } from "../../kernel/money.ts";
import type { CallUsage } from "./call-usage.ts";
import type { CallKind, ModelMessage, RunError, StepKind, StoredCall } from "./run.ts";

/** Writes a change of a run. Retries while the database is unavailable, because the change must not be lost. */
export type WriteRun = (change: RunChange) => Promise<Written>;

/** From this many parallel runs on, a short wait groups commits: a sixth less CPU for each run, measured with 32. */
const manyRuns = 8;
const gatherMs = 2;
const firstPauseMs = 50;
const maxPauseMs = 2_000;

/** Group commit over all runs of this node. The number of a write identifies a retry. */
export function createRunWriter(deps: {
  database: Database;
  log: Log;
  telemetry: Pick<Telemetry, "runEnded">;
  wakeWorkers(): void;
  underWay(): number;
}): WriteRun {
  const batcher = createBatcher<RunChange, Written>({
    maxItems: 128,
    gatherMs: () => (deps.underWay() >= manyRuns ? gatherMs : 0),
    blameItem: (error) => !(error instanceof Fault),
    run: async (changes) => {
      const answers = await writeRuns(deps.database.sql, changes);
      const byIndex = new Map(answers.map((answer) => [answer.n, answer]));
      if (answers.some((answer) => answer.wake)) deps.wakeWorkers();
      return changes.map((_, n) => {
        const answer = byIndex.get(n);
        if (!answer) throw new Error("write_runs returned no row for a change");
        return answer;
      });
    },
  });

  return async (change) => {
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, maxPauseMs)) {
      try {
        const written = await batcher.add(change);
        if (written.written && change.end) deps.telemetry.runEnded(change.end.error?.type);
        return written;
      } catch (error) {
        if (!isTransient(error)) throw error;
        deps.log.warn({ run_id: change.id, err: error }, "could not write a change of a run, retrying");
        await setTimeout(pause);
      }
    }
  };
}

/** The database is unavailable, or a transaction was rolled back because of a conflict. */
function isTransient(error: unknown): boolean {
  return error instanceof Fault || (error instanceof Error && "code" in error && /^40/.test(String(error.code)));
}

export interface NewCall {
  step: number;
  position: number;
  call_id: string;
  tool: string;
  arguments: Record<string, unknown>;
  kind: CallKind;
  status: StoredCall["status"];
  child_id?: string | undefined;
  result?: string | undefined;
  is_error?: boolean | undefined;
}

export interface EndedCall {
  step: number;
  position: number;
  result: string;
  is_error: boolean;
}

export interface NewEvent {
  type: string;
  data: Record<string, unknown>;
}

/** A summary of the steps up to `covers`, of a conversation of so many tokens. Stored in the run during the call. */
export interface SummaryRange {
  covers: number;
  /** Set if it summarizes earlier turns of the thread instead, up to this run. Then `covers` is 0. */
  turns?: string;
  before_tokens: number;
}

/** A change of a run, as `write_runs` of sql/write-runs.sql reads it. */
export interface RunChange {
  id: string;
  ancestors: readonly string[];
  claim: number;
  holder: string | null;
  /** The number of this write. */
  seq: number;
  phase?: RunPhase;
  call_id?: string;
  /** The call with this id is a summary. */
  summing_up?: (SummaryRange & { call_id: string }) | undefined;
  cut_before?: number;
  /** The sum of the holds of its calls under way. */
  hold?: Micros;
  active_ms?: number;
  release?: boolean;
  park?: "confirmation" | "children";
  step?: CallUsage & {
    n: number;
    kind: StepKind;
    message: ModelMessage;
    prompt?: string | undefined;
    prediction_id: string;
    first_token_ms?: number | undefined;
  };
  cost?: CallUsage;
  calls?: readonly NewCall[];
  starts?: readonly { step: number; position: number }[];
  ends?: readonly EndedCall[];
  confirmations?: readonly {
    id: string;
    step: number;
    position: number;
    tool: string;
    arguments: Record<string, unknown>;
    details: Record<string, unknown> | null;
    hash: string;
    expires_at: string;
  }[];
  secrets?: readonly { id: string; field: string; sealed: string; seconds: number }[];
  events?: readonly NewEvent[];
  end?: {
    status: "done" | "error";
    output?: unknown;
    error?: RunError;
    /** The result for the model of the parent. */
    told: string;
    told_error: boolean;
  };
}

export interface Written {
  n: number;
  /** False: the run has another claim. */
  written: boolean;
  cancel: boolean;
  /** What the run may still cost, by its own limit and those of its ancestors; null: no limit. */
  room: Micros | null;
  /** `room` without the holds of calls under way. */
  spare: Micros | null;
  held: boolean;
  /** A worker may continue the run or its parent. */
  wake: boolean;
}

export async function writeRuns(sql: Sql, changes: readonly RunChange[]): Promise<Written[]> {
  const locked = new Set(changes.flatMap(({ id, ancestors }) => [...ancestors, id]));
  const ending = changes.filter((change) => change.end).map(({ id }) => id);
  return sql<Written[]>`
    select * from write_runs(${[...locked]}::text[], ${ending}::text[], ${`[${changes.map(toJson).join()}]`}::text::json)`;
}

/** Replaces NUL and lone surrogates, which PostgreSQL does not store. */
function toJson({ ancestors: _locked, end, ...change }: RunChange, n: number): string {
  const written = { n, ...change, ...end };
  const text = JSON.stringify(written);
  return /\\u0000|\\ud[89a-f]/i.test(text) ? JSON.stringify(storable(written)) : text;
}

/** Text as it is stored. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

function storable(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [storable(key), storable(one)]));
}
