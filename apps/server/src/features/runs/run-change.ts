import type { RunPhase } from "@gantry/wire";
import type { Database, Sql, Transaction } from "../../engines/database/database.ts";
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
  cost_micros: Micros;
}

export interface NewEvent {
  type: string;
  data: Record<string, unknown>;
}

/** What happened to a run, as `write_runs` of migrations/0022 reads it. */
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
    /** The call of the parent that this answers, if there is one. */
    parent_call?: { run_id: string; shown_id: string } | undefined;
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
  const answering = changes.filter((change) => change.end?.parent_call !== undefined);
  if (asked.length + summing.length + answering.length === 0) return write(database.sql, changes);
  return database.transaction(async (tx) => {
    const answers = await write(tx, changes);
    if (answering.length > 0) await tieResults(tx, answering);
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

/**
 * Completes the results that `write_runs` has just told in the parents of runs that ended: it does not know how the events
 * of a call are tied together. Of two that say the same either is the first.
 */
async function tieResults(tx: Transaction, ended: readonly RunChange[]): Promise<void> {
  const parents = ended.map(({ end }) => end?.parent_call?.run_id ?? "");
  const shown = ended.map(({ end }) => end?.parent_call?.shown_id ?? "");
  await tx`
    with answered as (
      select k.run_id, k.tool, k.result, c.shown_id,
        row_number() over (partition by k.run_id, k.tool, k.result order by c.shown_id) as nth
      from unnest(${parents}::text[], ${ended.map(({ id }) => id)}::text[], ${shown}::text[])
          as c (parent_id, child_id, shown_id)
        join run_calls k on k.run_id = c.parent_id and k.child_id = c.child_id
    ), told as (
      select e.run_id, e.n, e.data ->> 'tool' as tool, e.data ->> 'result' as result,
        row_number() over (partition by e.run_id, e.data ->> 'tool', e.data ->> 'result' order by e.n) as nth
      from run_events e
      where e.run_id = any (${parents}::text[]) and e.type = 'tool_result' and e.data -> 'call_id' is null
        and e.xmin = pg_current_xact_id()::xid
    )
    update run_events e
    set data = json_build_object('tool', tool, 'result', result, 'call_id', a.shown_id)
    from told join answered a using (run_id, tool, result, nth)
    where e.run_id = told.run_id and e.n = told.n`;
}

async function write(sql: Sql, changes: readonly RunChange[]): Promise<Written[]> {
  const numbered = changes.map((change, n) => ({ n, ...change }));
  const [row] = await sql<{ answers: Written[] }[]>`
    select write_runs(${JSON.stringify(numbered)}::text::json) as answers`;
  return row?.answers ?? [];
}
