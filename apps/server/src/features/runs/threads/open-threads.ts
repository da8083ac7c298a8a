import { isId, mostTurns } from "@gantry/wire";
import type { Database } from "../../../engines/database/database.ts";
import { type Fault, fault } from "../../../kernel/errors.ts";
import { type Caller, type Page, scopeOf } from "../../accounts/index.ts";
import { readRunAgents } from "../run-names.ts";
import { deleteSome } from "./delete-threads.ts";
import { findThread, markDeleting, selectThreads, selectTurns, type Thread, type Turn } from "./thread-store.ts";

export interface ShownThread extends Thread {
  agentName: string;
  expiresAt: Date | null;
}

export interface ThreadsQuery {
  limit: number;
  offset: number;
  agentId?: string | undefined;
}

/** Threads belong to the caller of their runs: the agent's creator does not see them. */
export interface Threads {
  list(caller: Caller, query: ThreadsQuery): Promise<Page<ShownThread>>;
  /** With the last turns, or those before a run. */
  read(
    caller: Caller,
    id: string,
    before: string | undefined,
  ): Promise<{ thread: ShownThread; turns: Turn[]; hasMore: boolean }>;
  /** Rejects while a run of the thread has not ended. */
  delete(caller: Caller, id: string): Promise<void>;
}

const dayMs = 86_400_000;
const mostBytes = 8 * 1024 * 1024;

export function openThreads({ database, threadDays }: { database: Database; threadDays: number }): Threads {
  const { sql } = database;

  async function show(userId: string, threads: readonly Thread[]): Promise<ShownThread[]> {
    const agents = await readRunAgents(
      sql,
      threads.map(({ lastRunId }) => lastRunId),
      userId,
    );
    return threads.map((thread) => ({
      ...thread,
      agentName: agents.get(thread.lastRunId)?.name ?? thread.agentId,
      expiresAt: thread.isLive ? null : new Date(thread.updatedAt.getTime() + threadDays * dayMs),
    }));
  }

  return {
    async list(caller, query) {
      const { entries, total } = await selectThreads(sql, scopeOf(caller), query);
      return { entries: await show(caller.userId, entries), total };
    },
    async read(caller, id, before) {
      const thread = await findThread(sql, scopeOf(caller), id);
      const [shown] = await show(caller.userId, thread ? [thread] : []);
      if (!shown) throw threadNotFound();
      if (before !== undefined && !isId("run", before)) {
        throw fault("value_error", "Must be the id of a run of the thread.", { loc: ["query", "before"] });
      }
      const page = await selectTurns(sql, { userId: caller.userId, id }, before, {
        turns: mostTurns,
        bytes: mostBytes,
      });
      return { thread: shown, ...page };
    },
    async delete(caller, id) {
      const marked = await database.transaction((tx) => markDeleting(tx, scopeOf(caller), id));
      if (marked === "not found") throw threadNotFound();
      if (marked === "live") {
        throw fault(
          "conflict",
          "A run of this thread has not ended. Cancel it or wait for its end, then delete the thread.",
        );
      }
      for (let more = true; more; ) ({ more } = await deleteSome(database, { userId: caller.userId, id }));
    },
  };
}

function threadNotFound(): Fault {
  return fault("not_found", "Thread not found");
}
