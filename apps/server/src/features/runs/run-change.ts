import type { RunPhase } from "@gantry/wire";
import type { Database, Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import type { CallKind, RunError, SaidMessage, StepKind, StoredCall } from "./run.ts";

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

/** What happened to a run, as `write_runs` of migrations/0045 reads it. */
export interface RunChange {
  id: string;
  claim: number;
  holder: string | null;
  /** The number of this write. */
  seq: number;
  phase?: RunPhase;
  call_id?: string;
  /** With `call_id`: the call is a summary of the steps up to this one. */
  summing_up?: { covers: number; before_tokens: number } | undefined;
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
    seconds: number;
    /** The same as a moment, as the question's event tells it. */
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

export async function writeRuns(database: Database, changes: readonly RunChange[]): Promise<Written[]> {
  const asked = changes.flatMap(({ confirmations }) => confirmations ?? []);
  const summing = changes.filter((change) => change.summing_up !== undefined);
  if (asked.length === 0 && summing.length === 0) return write(database.sql, changes);
  return database.transaction(async (tx) => {
    const answers = await write(tx, changes);
    for (const { id, call_id, summing_up } of summing) {
      await tx`
        update runs set summing_up = ${JSON.stringify({ call_id, ...summing_up })}::text::json
        where id = ${id} and call_id = ${call_id ?? null}`;
    }
    // `write_runs` counts the seconds from when it writes; a question has one end, whoever tells it.
    if (asked.length === 0) return answers;
    await tx`
      update run_confirmations q set expires_at = a.expires_at
      from unnest(${asked.map(({ id }) => id)}::text[], ${asked.map((one) => one.expires_at)}::timestamptz[])
        as a (id, expires_at)
      where q.id = a.id`;
    return answers;
  });
}

async function write(sql: Sql, changes: readonly RunChange[]): Promise<Written[]> {
  const numbered = changes.map((change, n) => ({ n, ...change }));
  const [row] = await sql<{ answers: Written[] }[]>`
    select write_runs(${JSON.stringify(numbered)}::text::json) as answers`;
  return row?.answers ?? [];
}
