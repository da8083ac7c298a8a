import type { Transaction } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import { idAfter } from "../../../kernel/id-after.ts";
import type { Scope } from "../../accounts/index.ts";
import type { NewRun } from "../create-store.ts";
import { lockThread } from "./thread-store.ts";
import { titleOf } from "./turn-texts.rules.ts";

/** Runs of one thread that have not ended. */
const mostLiveRuns = 100;

export interface ThreadChoice {
  /** A confined key uses only threads that it created. */
  onlyKeyIds: Scope["onlyKeyIds"];
  /** The run that must be the last one of the thread. */
  after?: string | undefined;
}

/** The run that the client continues is not the last one of its thread any more, or another agent's. */
export class ThreadMovedOn extends Error {}

/**
 * Locks the thread of a new run, which creates it for the first one. Returns the run with an id behind those of earlier
 * runs: the clocks of two nodes may differ, and the order of ids is the order of turns.
 */
export async function joinThread(
  tx: Transaction,
  run: NewRun,
  id: string,
  { onlyKeyIds, after }: ThreadChoice,
): Promise<NewRun> {
  const { userId, keyId, agentId, input } = run;
  const title = titleOf(input as Record<string, unknown>);
  const thread = await lockThread(tx, { userId, id, keyId, agentId, title, onlyKeyIds }, mostLiveRuns);
  if (after !== undefined && (!thread || thread.deleting)) throw new ThreadMovedOn();
  if (!thread || thread.deleting) throw conflict(`The thread ${id} is being deleted. Try again.`, { retryable: true });
  const isContinued = thread.isInReach && thread.lastRunId === after && thread.agentId === agentId;
  if (after !== undefined && !isContinued) throw new ThreadMovedOn();
  if (!thread.isInReach) {
    throw conflict(`The thread ${id} was created with another key. Choose another thread_id.`);
  }
  if (thread.agentId !== agentId) {
    throw conflict(`The thread ${id} belongs to another agent. Choose another thread_id.`);
  }
  if (thread.liveRuns >= mostLiveRuns) {
    throw conflict(`The thread ${id} already has ${mostLiveRuns} runs that have not ended. Wait for them.`, {
      retryable: true,
    });
  }
  return run.id > thread.lastRunId ? run : { ...run, id: idAfter("run", thread.lastRunId) };
}

function conflict(msg: string, options: { retryable?: boolean } = {}) {
  return fault("conflict", msg, { loc: ["body", "thread_id"], ...options });
}
