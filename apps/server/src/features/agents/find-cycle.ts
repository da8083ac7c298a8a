import type { Sql, Transaction } from "../../engines/database/database.ts";
import { type Binding, findBound, lockBindings, ownAmong } from "./binding-store.ts";

/** Runs nest at most this deep. */
const maxDepth = 5;
const maxAgents = 500;

/** The ids from the first callee back to the agent, if the agent would call itself through `calls`. */
export async function findCycle(
  bindingsOf: (agentIds: readonly string[]) => Promise<readonly Binding[]>,
  agentId: string,
  calls: readonly string[],
): Promise<string[] | undefined> {
  const cameFrom = new Map<string, string | undefined>(calls.map((id) => [id, undefined]));
  let level: string[] = [...cameFrom.keys()];
  for (let depth = 0; depth <= maxDepth && level.length > 0 && !cameFrom.has(agentId); depth++) {
    const next: string[] = [];
    for (const { agentId: from, boundId } of await bindingsOf(level)) {
      if (cameFrom.has(boundId) || cameFrom.size >= maxAgents) continue;
      cameFrom.set(boundId, from);
      next.push(boundId);
    }
    level = next;
  }
  if (!cameFrom.has(agentId)) return undefined;
  const path: string[] = [];
  for (let at: string | undefined = agentId; at !== undefined; at = cameFrom.get(at)) path.unshift(at);
  return path;
}

/** The same inside the transaction that saves the calls. The lock shows this change what a concurrent one has saved. */
export async function findCycleBeforeWriting(
  tx: Transaction,
  userId: string | null,
  agentId: string,
  calls: readonly string[],
): Promise<string[] | undefined> {
  if (calls.length === 0) return undefined;
  await lockBindings(tx);
  return findCycle((agentIds) => findBound(tx, userId, agentIds), agentId, calls);
}

/** Agents of other users are not named, except the one that the caller has chosen. */
export async function describeCycle(
  sql: Sql,
  userId: string,
  agentId: string,
  cycle: readonly string[],
): Promise<string> {
  const own = new Set(await ownAmong(sql, userId, cycle));
  const path = cycle.map((id, at) => (at === 0 || own.has(id) ? id : "an agent of another user"));
  return `The agent would call itself: ${[agentId, ...path].join(" → ")}`;
}
