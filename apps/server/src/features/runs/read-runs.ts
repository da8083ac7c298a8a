import { isId, type RunPhase, type RunStatus } from "@gantry/wire";
import { type Caller, type Page, scopeOf } from "../accounts/index.ts";
import { agentNotFound } from "../agents/index.ts";
import type { Moment } from "../billing/index.ts";
import type { RunsContext } from "./context.ts";
import { type Run, runNotFound } from "./run.ts";
import { type RunAgent, readRunAgents } from "./run-names.ts";
import { findRun, type RunPlace, selectRuns, selectRunsAfter } from "./store.ts";
import { readTimes } from "./trace/read-times.ts";
import type { TimeSpent } from "./trace/waited-time.rules.ts";

/**
 * A run for a reader. The caller sees everything, the agent's creator only that it took place and its price. A key limited
 * to models sees only runs that it started.
 */
export interface SeenRun {
  run: Run;
  as: "caller" | "creator";
}

/** A run with what its record adds to the row. */
export interface ShownRun extends SeenRun {
  agent: RunAgent;
  times: TimeSpent;
}

export async function showRuns(
  { database, clock }: Pick<RunsContext, "database" | "clock">,
  { userId }: Pick<Caller, "userId">,
  seen: readonly SeenRun[],
): Promise<ShownRun[]> {
  const runs = seen.map(({ run }) => run);
  const [agents, times] = await Promise.all([
    readRunAgents(
      database.sql,
      runs.map(({ id }) => id),
      userId,
    ),
    readTimes(database.sql, runs, clock.now()),
  ]);
  return seen.map((one) => {
    const { id, agentId } = one.run;
    return {
      ...one,
      agent: agents.get(id) ?? { id: agentId, name: agentId, slug: null },
      times: times.get(id) ?? { workedMs: 0, waitedMs: 0 },
    };
  });
}

export async function readRun({ database }: RunsContext, caller: Caller, id: string): Promise<SeenRun> {
  const run = isId("run", id) ? await findRun(database.sql, id, scopeOf(caller)) : undefined;
  const seen = run && seenBy(caller, run);
  if (!seen) throw runNotFound();
  return seen;
}

/** For events, confirmations and cancellation: only the caller of a run may use them. */
export async function readOwnRun(context: RunsContext, caller: Caller, id: string): Promise<Run> {
  const { run, as } = await readRun(context, caller, id);
  if (as !== "caller") throw runNotFound();
  return run;
}

/** For a run of the caller's keys. */
function seenBy({ userId }: Pick<Caller, "userId">, run: Run): SeenRun | undefined {
  if (run.userId === userId) return { run, as: "caller" };
  return run.ownerId === userId ? { run, as: "creator" } : undefined;
}

export interface ListRunsQuery {
  limit: number;
  offset: number;
  status?: RunStatus | undefined;
  phase?: RunPhase | undefined;
  /** Part of the id. */
  idPart?: string | undefined;
  createdFrom?: Moment | undefined;
  createdTo?: Moment | undefined;
  agentId?: string | undefined;
  /** Only children of this run. */
  parentId?: string | undefined;
  threadId?: string | undefined;
}

const exportedAtOnce = 500;

/** All runs of the caller with its descendants, newest first. Inputs and outputs are read one by one. */
export async function* exportRuns(context: RunsContext, caller: Pick<Caller, "userId">): AsyncGenerator<ShownRun> {
  const { sql } = context.database;
  for (let last: RunPlace | undefined; ; ) {
    const places: RunPlace[] = await selectRunsAfter(sql, caller.userId, last, exportedAtOnce);
    for (const { id } of places) {
      const run = await findRun(sql, id);
      if (run) yield* await showRuns(context, caller, [{ run, as: "caller" }]);
    }
    if (places.length < exportedAtOnce) return;
    last = places.at(-1);
  }
}

/**
 * All runs of an agent for its creator; the caller's own runs for others and for keys limited to models. Deleted agents keep
 * their runs.
 */
export async function listRunsOfAgent(
  { database, agents }: RunsContext,
  caller: Caller,
  agentId: string,
  { limit, offset, parentId: _ofRuns, threadId: _ofCaller, ...query }: ListRunsQuery,
): Promise<Page<SeenRun>> {
  if (!isId("agent", agentId)) throw agentNotFound();
  const scope = scopeOf(caller);
  const seesAll = scope.onlyKeyIds === null && (await agents.ownerOf(agentId)) === caller.userId;
  const filter = { ...query, agentId, ...(!seesAll && scope) };
  const { entries, total } = await selectRuns(database.sql, filter, { limit, offset });
  // Without runs, the agent must be visible to the caller.
  if (!seesAll && total === 0) await agents.readAgent(caller, agentId);
  return { entries: entries.flatMap((run) => seenBy(scope, run) ?? []), total };
}

export async function listOwnRuns(
  { database }: RunsContext,
  caller: Caller,
  { limit, offset, ...query }: ListRunsQuery,
): Promise<Page<SeenRun>> {
  const scope = scopeOf(caller);
  const filter = { ...scope, ...query, onlyRoots: query.parentId === undefined };
  const { entries, total } = await selectRuns(database.sql, filter, { limit, offset });
  return { entries: entries.flatMap((run) => seenBy(scope, run) ?? []), total };
}
