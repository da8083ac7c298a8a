import type { Sql, Transaction } from "../../engines/database/database.ts";
import { findBound, lockBindings } from "./store.ts";

/** Runs nest this deep at most; a longer circle ends there. */
const maxDepth = 5;
const maxAgents = 500;

/**
 * Whether an agent that calls these agents would come to call itself, as far as that can be seen: the ids on the way,
 * from the first callee back to the agent. `userId` is whose drafts are looked at too.
 */
export async function findCircle(
  sql: Sql,
  userId: string | null,
  agentId: string,
  calls: readonly string[],
): Promise<string[] | undefined> {
  const cameFrom = new Map<string, string | undefined>(calls.map((id) => [id, undefined]));
  let level: string[] = [...cameFrom.keys()];
  for (let depth = 0; depth <= maxDepth && level.length > 0 && !cameFrom.has(agentId); depth++) {
    const next: string[] = [];
    for (const { agentId: from, boundId } of await findBound(sql, userId, level)) {
      if (cameFrom.has(boundId) || cameFrom.size >= maxAgents) continue;
      cameFrom.set(boundId, from);
      next.push(boundId);
    }
    level = next;
  }
  if (!cameFrom.has(agentId)) return undefined;
  const way: string[] = [];
  for (let at: string | undefined = agentId; at !== undefined; at = cameFrom.get(at)) way.unshift(at);
  return way;
}

/**
 * The same before the calls are written: of two changes that only together close a circle, the second one sees the first,
 * because nobody else writes whom an agent calls until the transaction ends.
 */
export async function findCircleBeforeWriting(
  tx: Transaction,
  userId: string | null,
  agentId: string,
  calls: readonly string[],
): Promise<string[] | undefined> {
  if (calls.length === 0) return undefined;
  await lockBindings(tx);
  return findCircle(tx, userId, agentId, calls);
}

export function describeCircle(agentId: string, circle: readonly string[]): string {
  return `The agent would come to call itself: ${[agentId, ...circle].join(" → ")}`;
}
