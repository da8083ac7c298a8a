import type { Database } from "../../engines/database/database.ts";
import type { Span, SpanOptions, Telemetry } from "../../engines/telemetry/telemetry.ts";
import { createClaimLoop } from "../../kernel/claim-loop.ts";
import { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { Register } from "../../kernel/register.ts";
import type { Agents } from "../agents/index.ts";
import type { Run, RunError } from "./run.ts";
import type { UsedByCall, WriteRun } from "./run-writer.ts";
import { type ClaimedRun, claimRuns, type HeldRun, listCalls, listSteps } from "./store.ts";
import { type RecallDeps, recallCalls } from "./work/recall-calls.ts";
import { RunSession } from "./work/session.ts";
import { failureOf, RunFailed, RunStopped } from "./work/stopped.ts";
import { type RunWorkDeps, workOnRun } from "./work/work-on-run.ts";

export interface RunWorkerDeps extends RunWorkDeps, RecallDeps {
  database: Database;
  log: Log;
  telemetry: Telemetry;
  nodeId: string;
  predictions: RunWorkDeps["predictions"] & RecallDeps["predictions"];
  agents: RunWorkDeps["agents"] & Pick<Agents, "getRevision">;
  write: WriteRun;
  wakeWorkers(): void;
  /** Ends all that a run has started, and resolves when it has ended, or after a time. */
  endDescendants(run: Pick<Run, "id" | "claim">): Promise<void>;
  /** Runs at the same time on this node. */
  parallel: number;
}

export interface RunWorker {
  /** Claims what there is, up to the node's free slots. */
  work(): Promise<void>;
  /** Whether runs may be pending that only another node has a slot for. */
  isFull(): boolean;
  underWay(): number;
  /** Stops a run that is worked on here. */
  stopRun(runId: string, reason: RunStopped["reason"]): void;
  /**
   * Compares what is worked on here with what the database says that this node holds: stops what another node has taken
   * over, and what was cancelled without this node hearing of it. Answers what is believed to be here and is not:
   * because the answer to a claim was lost, or because the work on it failed and that could not be written.
   */
  compare(listHeld: () => Promise<HeldRun[]>): Promise<(HeldRun & { wasTried: boolean })[]>;
  /** No new runs; those under way are left at their next step. */
  stop(): Promise<void>;
  /** Those that still go on are given up where they are. */
  handBack(): void;
}

const claimedAtOnce = 20;
const deathsAllowed = 3;

/**
 * Slots of a node that only users without a run in work may take, so that one user with many runs whose models are silent
 * leaves some to everybody else.
 */
const keptOf = (slots: number): number => (slots > 1 ? Math.max(1, Math.floor(slots / 4)) : 0);

export const cancelledError: RunError = { type: "cancelled", message: "The run was cancelled" };

/** Works on runs: claims them in SQL, so that any number of workers share them; a wake-up only says that it is worth a look. */
export function createRunWorker(deps: RunWorkerDeps): RunWorker {
  const sessions = new Register<RunSession>();
  /** Claims that ended without a word, by run. */
  const failed = new Map<string, number>();
  const freeSlots = () => deps.parallel - sessions.size;
  const spareSlots = () => Math.max(0, freeSlots() - keptOf(deps.parallel));
  const taking = createClaimLoop<ClaimedRun>({
    freeSlots: freeSlots,
    atOnce: claimedAtOnce,
    claim: (wanted) => claimRuns(deps.database.sql, deps.nodeId, { wanted, spare: spareSlots() }),
    begin: (run) => void deps.telemetry.within(deps.telemetry.resumed(run.trace), () => attend(run)),
  });

  async function attend(run: Run): Promise<void> {
    const session = new RunSession(run, deps.write);
    sessions.get(run.id)?.stop("lost");
    sessions.set(run.id, session);
    if (taking.isStopped) session.isLeaving = true;
    noteWait(deps.telemetry, run);
    try {
      await deps.telemetry.inSpan(
        () => spanOf(run),
        (span) => bringForward(deps, session, span),
      );
    } catch (error) {
      failed.set(run.id, run.claim);
      deps.log.error({ run_id: run.id, err: error }, "A run could not be carried on here");
    } finally {
      session.close();
      // Whatever still goes on for it, a tool beside one that failed, is of no use to anybody.
      session.stop("lost");
      if (sessions.get(run.id) === session) sessions.delete(run.id);
      if (!taking.isStopped) claimNext();
    }
  }

  /** The end of a run frees a slot of its user too. Where this node cannot use it, another one may. */
  function claimNext(): void {
    taking.look().then(
      () => spareSlots() === 0 && deps.wakeWorkers(),
      (error) => deps.log.warn({ err: error }, "ClaimLoop runs failed, the next look tries again"),
    );
  }

  return {
    work: taking.look,
    isFull: () => spareSlots() === 0,
    underWay: () => sessions.size,
    stopRun: (runId, reason) => sessions.get(runId)?.stop(reason),
    async compare(listHeld) {
      // Those that were here before the look: one that is claimed meanwhile is not in it.
      const before = sessions.all();
      const held = new Map((await listHeld()).map((run) => [run.id, run]));
      for (const session of before) {
        const present = held.get(session.run.id);
        if (present?.claim !== session.run.claim) session.stop("lost");
        else if (present.cancelRequested) session.stop("cancelled");
      }
      for (const [id, claim] of failed) if (held.get(id)?.claim !== claim) failed.delete(id);
      return [...held.values()]
        .filter((run) => sessions.get(run.id)?.run.claim !== run.claim)
        .map((run) => ({ ...run, wasTried: failed.has(run.id) }));
    },
    async stop() {
      await taking.stop();
      for (const session of sessions.all()) session.isLeaving = true;
    },
    handBack() {
      for (const session of sessions.all()) session.stop("shutdown");
    },
  };
}

/** Works on the run until it is done, waits or fails, and writes which. */
async function bringForward(deps: RunWorkerDeps, session: RunSession, span: Span): Promise<void> {
  const { run } = session;
  try {
    const isFresh = run.steps === 0;
    const calls = isFresh ? [] : await listCalls(deps.database.sql, run.id);
    const recalled = await recallCalls(deps, session, calls);
    if (run.deaths >= deathsAllowed) {
      throw new RunFailed("internal", "The workers that carried the run on died three times");
    }
    const revision = await deps.agents.getRevision(run.agentId, run.revisionId);
    if (!revision) throw new Error(`the revision ${run.revisionId} of a run is not there`);
    const steps = isFresh ? [] : await listSteps(deps.database.sql, run.id);
    // Its children may have used up what they share with it: then it was taken to be ended, and makes no call any more.
    if (session.remainingMs <= 0 && !run.cancelRequested) session.stop("timeout");
    const end = await workOnRun(deps, session, { run, snapshot: revision.snapshot, steps, calls }, recalled);
    span.set({ [cameTo]: end });
  } catch (error) {
    await writeFailure(deps, session, span, session.signal.aborted ? session.signal.reason : error);
  }
}

async function writeFailure(deps: RunWorkerDeps, session: RunSession, span: Span, error: unknown): Promise<void> {
  const { run } = session;
  if (error instanceof RunStopped && error.reason === "lost") return span.set({ [cameTo]: "lost" });
  try {
    if (isPassing(error)) {
      span.set({ [cameTo]: "handed on" });
      // Not the run's fault: another try, here or elsewhere, goes on where it stands.
      await session.write({ release: true });
      return;
    }
    const failure = errorOf(error, run);
    span.set({ [cameTo]: "error" });
    span.fail(failure.type);
    if (failure.type === "internal") deps.log.error({ run_id: run.id, err: error }, "A run ended as internal");
    // What still goes on for it is made again by nobody. It pays for what it has used, and a run that is told as ended
    // has all of that in its cost; so what it began, and what it started, ends first.
    session.stop("cancelled");
    await session.underWay;
    await deps.endDescendants(run).catch((cause) => {
      deps.log.warn({ run_id: run.id, err: cause }, "What a run has started could not be ended before it");
    });
    await session.write({
      events: [{ type: "error", data: { ...failure } }],
      ...(session.unwritten.size > 0 && { cost: sumOf(session.unwritten.values()) }),
      end: {
        status: "error",
        error: failure,
        told: `The agent's run ended without a result (${failure.type}): ${failure.message}`,
        told_error: true,
      },
    });
  } catch (again) {
    if (!(again instanceof RunStopped)) throw again;
    span.set({ [cameTo]: "lost" });
  }
}

function sumOf(all: Iterable<UsedByCall>): UsedByCall {
  const sum = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, cost_micros: 0 };
  for (const used of all) {
    sum.input_tokens += used.input_tokens;
    sum.output_tokens += used.output_tokens;
    sum.cached_tokens += used.cached_tokens;
    sum.cache_write_tokens += used.cache_write_tokens;
    sum.cost_micros += used.cost_micros;
  }
  return sum;
}

/** What the work of one claim came to: done, error, left (it waits for somebody), handed on, or lost. */
const cameTo = "gantry.run_came_to";

function spanOf({ id, agentId, claim }: Run): SpanOptions {
  return {
    name: "run",
    attributes: {
      "gantry.run_id": id,
      "gantry.run_claim": claim,
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.id": agentId,
    },
  };
}

/** What it waited for its first worker; how long it waited later, for whom or what, is not known here. */
function noteWait(telemetry: Telemetry, { id, claim, createdAt, startedAt }: Run): void {
  if (claim !== 1 || startedAt === null) return;
  const [from, until] = [createdAt.getTime(), startedAt.getTime()];
  telemetry.past(() => ({ name: "queue", kind: "consumer", attributes: { "gantry.run_id": id }, from, until }));
}

function isPassing(error: unknown): boolean {
  if (error instanceof RunStopped) return error.reason === "shutdown";
  return error instanceof Fault && error.type === "service_unavailable";
}

function errorOf(error: unknown, run: Run): RunError {
  if (error instanceof RunStopped) {
    if (error.reason === "cancelled") return cancelledError;
    return { type: "timeout", message: `The run was not done within ${run.timeoutMs / 1000} seconds of active time` };
  }
  const { type, message } = failureOf(error);
  return { type, message };
}
