import type { RunPhase } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";
import type { Telemetry } from "../../engines/telemetry/telemetry.ts";
import { createBatcher } from "../../kernel/batcher.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Micros } from "../../kernel/money.ts";
import type { CallKind, RunError, SaidMessage, StepKind, StoredCall } from "./run.ts";

/** Writes what happened to a run. Does not give up while the database is away: what happened must be written down. */
export type WriteRun = (change: RunChange) => Promise<Written>;

/**
 * With so many runs side by side a write is worth waiting a moment for others: each takes a share of a commit instead of
 * one of its own (a sixth less CPU a run, measured with 32). A model takes hundreds of times as long for its answer.
 */
const manyRuns = 8;
const gatherMs = 2;
const firstPauseMs = 50;
const longestPauseMs = 2_000;

/** Group commit over all runs of this node; a write that is sent again is recognised by its number. */
export function createRunWriter(deps: {
  database: Database;
  log: Log;
  telemetry: Pick<Telemetry, "runEnded">;
  wakeWorkers(): void;
  /** How many runs this node works on. */
  underWay(): number;
}): WriteRun {
  const batcher = createBatcher<RunChange, Written>({
    maxItems: 128,
    gatherMs: () => (deps.underWay() >= manyRuns ? gatherMs : 0),
    blameItem: (error) => !(error instanceof Fault),
    run: async (changes) => {
      const answers = await writeRuns(deps.database.sql, changes);
      const byPlace = new Map(answers.map((answer) => [answer.n, answer]));
      if (answers.some((answer) => answer.wake)) deps.wakeWorkers();
      return changes.map((_, n) => {
        const answer = byPlace.get(n);
        if (!answer) throw new Error("a change of a run was not answered");
        return answer;
      });
    },
  });

  return async (change) => {
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
      try {
        const written = await batcher.add(change);
        if (written.written && change.end) deps.telemetry.runEnded(change.end.error?.type);
        return written;
      } catch (error) {
        if (!isPassing(error)) throw error;
        deps.log.warn({ run_id: change.id, err: error }, "A step of a run could not be written, trying again");
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  };
}

/** The database is away, or two transactions stood in each other's way. */
function isPassing(error: unknown): boolean {
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

export interface UsedByCall {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  cost_micros: Micros;
}

export interface NewEvent {
  type: string;
  data: Record<string, unknown>;
}

/** What is summed up: steps up to `covers`, of a conversation of so many tokens. Stands in the run while the call is made. */
export interface SummingUp {
  covers: number;
  before_tokens: number;
}

/** What happened to a run, as `write_runs` of sql/write-runs.sql reads it. */
export interface RunChange {
  id: string;
  ancestors: readonly string[];
  claim: number;
  holder: string | null;
  /** The number of this write. */
  seq: number;
  phase?: RunPhase;
  call_id?: string;
  /** The call of this id is a summary. */
  summing_up?: (SummingUp & { call_id: string }) | undefined;
  cut_before?: number;
  /** What its calls under way may come to, all together. */
  hold?: Micros;
  active_ms?: number;
  release?: boolean;
  park?: "confirmation" | "children";
  step?: UsedByCall & {
    n: number;
    kind: StepKind;
    message: SaidMessage;
    prompt?: string | undefined;
    prediction_id: string;
  };
  cost?: UsedByCall;
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
    /** For the model of the parent. */
    told: string;
    told_error: boolean;
  };
}

export interface Written {
  n: number;
  /** False: the run is no longer this claim's. */
  written: boolean;
  cancel: boolean;
  /** What it may still cost, by its own limit and those above; null: no limit. */
  room: Micros | null;
  /** The same without what calls under way may come to. */
  spare: Micros | null;
  /** Whether there was room for `hold`. */
  held: boolean;
  /** A worker may go on with it, or with its parent. */
  wake: boolean;
}

export async function writeRuns(sql: Sql, changes: readonly RunChange[]): Promise<Written[]> {
  const locked = new Set(changes.flatMap(({ id, ancestors }) => [...ancestors, id]));
  const ending = changes.filter((change) => change.end).map(({ id }) => id);
  return sql<Written[]>`
    select * from write_runs(${[...locked]}::text[], ${ending}::text[], ${`[${changes.map(toJson).join()}]`}::text::json)`;
}

/** What PostgreSQL cannot hold in a text, NUL and halves of characters, is replaced: models and tools say anything. */
function toJson({ ancestors: _locked, end, ...change }: RunChange, n: number): string {
  const written = { n, ...change, ...end };
  const text = JSON.stringify(written);
  return /\\u0000|\\ud[89a-f]/i.test(text) ? JSON.stringify(mended(written)) : text;
}

function mended(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("\0", "\uFFFD").toWellFormed();
  if (Array.isArray(value)) return value.map(mended);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [mended(key), mended(one)]));
}
