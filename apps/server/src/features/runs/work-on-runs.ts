import type { Database } from "../../engines/database/database.ts";
import type { Span, SpanOptions, Telemetry } from "../../engines/telemetry/telemetry.ts";
import { createClaimLoop } from "../../kernel/claim-loop.ts";
import { isUnavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { Register } from "../../kernel/register.ts";
import type { Agents } from "../agents/index.ts";
import { addUsage } from "./call-usage.ts";
import { imagesApart } from "./converse/conversation-input.rules.ts";
import type { Run, RunError, RunHistory } from "./run.ts";
import type { WriteRun } from "./run-writer.ts";
import { claimRuns, historyBytes, listCalls, listOpenCalls, listSteps, type RunClaim } from "./store.ts";
import { checkHistory } from "./work/limits.rules.ts";
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
  /** Ends the descendants of a run. Resolves when they have ended, or after a time. */
  endDescendants(run: Pick<Run, "id" | "claim">): Promise<void>;
  /** Slots of this node. */
  parallel: number;
}

export interface RunWorker {
  /** Claims runs for the free slots of the node. */
  work(): Promise<void>;
  /** Whether only other nodes have slots for pending runs. */
  isFull(): boolean;
  underWay(): number;
  stopRun(runId: string, reason: RunStopped["reason"]): void;
  /**
   * Compares the sessions of this node with its claims in the database. Stops runs that another node has claimed, and
   * cancelled runs. Returns claims without a session: the response to the claim was lost, or the failure was not written.
   */
  compare(listClaims: () => Promise<RunClaim[]>): Promise<(RunClaim & { wasTried: boolean })[]>;
  /** Claims no more runs; the present ones stop after their current step. */
  stop(): Promise<void>;
  /** Stops the remaining runs immediately. */
  handBack(): void;
}

const claimedAtOnce = 20;
const maxDeaths = 3;
/** Before a run is released because a service is unavailable. Without a pause it would be claimed again at once. */
const pauseMs = 3_000;

/** Slots for users without a claimed run, so that one user with slow models cannot take all slots. */
const reservedSlots = (slots: number): number => (slots > 1 ? Math.max(1, Math.floor(slots / 4)) : 0);

export const cancelledError: RunError = { type: "cancelled", message: "The run was cancelled" };

/** Claims runs in SQL and works on them. A wake-up is only a hint. */
export function createRunWorker(deps: RunWorkerDeps): RunWorker {
  const sessions = new Register<RunSession>();
  /** Claims whose work failed, by run. */
  const failed = new Map<string, number>();
  const freeSlots = () => deps.parallel - sessions.size;
  const spareSlots = () => Math.max(0, freeSlots() - reservedSlots(deps.parallel));
  const claims = createClaimLoop<Run>({
    freeSlots,
    atOnce: claimedAtOnce,
    claim: (wanted) => claimRuns(deps.database.sql, deps.nodeId, { wanted, spare: spareSlots() }),
    begin: (run) => void deps.telemetry.within(deps.telemetry.resumed(run.trace), () => workOn(run)),
  });

  async function workOn(run: Run): Promise<void> {
    const session = new RunSession(run, deps.write);
    sessions.get(run.id)?.stop("lost");
    sessions.set(run.id, session);
    if (claims.isStopped) session.leave();
    recordWait(deps.telemetry, run);
    try {
      await deps.telemetry.inSpan(
        () => spanOf(run),
        (span) => advance(deps, session, span),
      );
    } catch (error) {
      failed.set(run.id, run.claim);
      deps.log.error({ run_id: run.id, err: error }, "work on a run failed");
    } finally {
      session.close();
      // Stops what is still running, such as a tool beside one that failed.
      session.stop("lost");
      if (sessions.get(run.id) === session) sessions.delete(run.id);
      if (!claims.isStopped) claimNext();
    }
  }

  /** The end of a run also frees a slot of its user, which another node may use. */
  function claimNext(): void {
    claims.look().then(
      () => spareSlots() === 0 && deps.wakeWorkers(),
      (error) => deps.log.warn({ err: error }, "could not claim runs"),
    );
  }

  return {
    work: claims.look,
    isFull: () => spareSlots() === 0,
    underWay: () => sessions.size,
    stopRun: (runId, reason) => sessions.get(runId)?.stop(reason),
    async compare(listClaims) {
      // Sessions from before the query: it does not show runs that are claimed meanwhile.
      const before = sessions.all();
      const claimed = new Map((await listClaims()).map((run) => [run.id, run]));
      for (const session of before) {
        const current = claimed.get(session.run.id);
        if (current?.claim !== session.run.claim) session.stop("lost");
        else if (current.cancelRequested) session.stop("cancelled");
      }
      for (const [id, claim] of failed) if (claimed.get(id)?.claim !== claim) failed.delete(id);
      return [...claimed.values()]
        .filter((run) => sessions.get(run.id)?.run.claim !== run.claim)
        .map((run) => ({ ...run, wasTried: failed.has(run.id) }));
    },
    async stop() {
      await claims.stop();
      for (const session of sessions.all()) session.leave();
    },
    handBack() {
      for (const session of sessions.all()) session.stop("shutdown");
    },
  };
}

/** Works on the run until it is done, waits or fails, and writes the result. */
async function advance(deps: RunWorkerDeps, session: RunSession, span: Span): Promise<void> {
  const { run } = session;
  try {
    const { sql } = deps.database;
    const isFresh = run.steps === 0;
    const hasDied = run.deaths >= maxDeaths;
    const open = isFresh ? [] : await listOpenCalls(sql, run.id);
    const recalled = await recallCalls(deps, session, open, { onlyCharges: hasDied });
    // Nothing large is loaded first: the nodes may have died of it.
    if (hasDied) throw new RunFailed("internal", "Three nodes died while they worked on the run");
    // Children share the active time of the run and may have used all of it.
    if (run.cancelRequested) session.stop("cancelled");
    else if (session.remainingMs <= 0) session.stop("timeout");
    session.signal.throwIfAborted();
    session.historyBytes = isFresh ? 0 : await historyBytes(sql, run.id);
    checkHistory(session.historyBytes);
    const revision = await deps.agents.getRevision(run.agentId, run.revisionId);
    if (!revision) throw new Error(`revision ${run.revisionId} of a run does not exist`);
    const steps = isFresh ? [] : await listSteps(sql, run.id);
    const calls = isFresh ? [] : await listCalls(sql, run.id);
    const history = { ...shownRun(run), snapshot: revision.snapshot, steps, calls };
    const end = await workOnRun(deps, session, history, recalled);
    span.set({ [cameTo]: end });
  } catch (error) {
    if (isUnavailable(error) && !session.signal.aborted) {
      deps.log.warn({ run_id: run.id, err: error }, "a service is unavailable, pausing a run before it is released");
      await session.pause(pauseMs);
    }
    await writeFailure(deps, session, span, session.signal.aborted ? session.signal.reason : error);
  }
}

/** Clients of other protocols may send images in messages. Models get them as images, not as text. */
function shownRun(run: Run): Pick<RunHistory, "run" | "images"> {
  if (run.door === null) return { run, images: [] };
  const { shown, images } = imagesApart(run.input);
  return { run: { ...run, input: shown }, images };
}

async function writeFailure(deps: RunWorkerDeps, session: RunSession, span: Span, error: unknown): Promise<void> {
  const { run } = session;
  if (error instanceof RunStopped && error.reason === "lost") return span.set({ [cameTo]: "lost" });
  try {
    if (isTransient(error)) {
      span.set({ [cameTo]: "handed on" });
      // Another claim continues the run.
      await session.write({ release: true });
      return;
    }
    const failure = errorOf(error, run);
    span.set({ [cameTo]: "error" });
    span.fail(failure.type);
    if (failure.type === "internal") deps.log.error({ run_id: run.id, err: error }, "run ended with an internal error");
    // The charge of an ended run is complete, so calls under way and descendants end first.
    session.stop("cancelled");
    await session.underWay;
    await deps.endDescendants(run).catch((cause) => {
      deps.log.warn({ run_id: run.id, err: cause }, "could not end the descendants of a run first");
    });
    await session.write({
      events: [{ type: "error", data: { ...failure } }],
      ...(session.unwritten.size > 0 && { cost: [...session.unwritten.values()].reduce(addUsage) }),
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

/** How the work of a claim ended: done, error, left (the run waits), handed on, or lost. */
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

/** The wait for the first claim. Later waits are not known here. */
function recordWait(telemetry: Telemetry, { id, claim, createdAt, startedAt }: Run): void {
  if (claim !== 1 || startedAt === null) return;
  const [from, until] = [createdAt.getTime(), startedAt.getTime()];
  telemetry.past(() => ({ name: "queue", kind: "consumer", attributes: { "gantry.run_id": id }, from, until }));
}

function isTransient(error: unknown): boolean {
  if (error instanceof RunStopped) return error.reason === "shutdown";
  return isUnavailable(error);
}

function errorOf(error: unknown, run: Run): RunError {
  if (error instanceof RunStopped) {
    if (error.reason === "cancelled") return cancelledError;
    return { type: "timeout", message: `The run did not finish within ${run.timeoutMs / 1000} seconds of active time` };
  }
  const { type, message } = failureOf(error);
  return { type, message };
}
