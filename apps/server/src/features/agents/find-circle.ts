import type { Sql, Transaction } from "../../engines/database/database.ts";
import { type Binding, findBound, lockBindings, ownAmong } from "./binding-store.ts";

/** Runs nest this deep at most; a longer circle ends there. */
const maxDepth = 5;
const maxAgents = 500;

/**
 * Whether an agent that calls these agents would come to call itself, as far as that can be seen: the ids on the way,
 * from the first callee back to the agent. `bindingsOf` tells whom agents call.
 */
export async function findCircle(
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
  const way: string[] = [];
  for (let at: string | undefined = agentId; at !== undefined; at = cameFrom.get(at)) way.unshift(at);
  return way;
}

/**
 * The same before the calls are written, with the drafts of the user where one is named: of two changes that only
 * together close a circle, the second one sees the first, because nobody else writes whom an agent calls until the
 * transaction ends.
 */
export async function findCircleBeforeWriting(
  tx: Transaction,
  userId: string | null,
  agentId: string,
  calls: readonly string[],
): Promise<string[] | undefined> {
  if (calls.length === 0) return undefined;
  await lockBindings(tx);
  return findCircle((agentIds) => findBound(tx, userId, agentIds), agentId, calls);
}

/** Of others' agents only the one is named that the caller has chosen: what they are made of is theirs. */
export async function describeCircle(
  sql: Sql,
  userId: string,
  agentId: string,
  circle: readonly string[],
): Promise<string> {
  const own = new Set(await ownAmong(sql, userId, circle));
  const way = circle.map((id, at) => (at === 0 || own.has(id) ? id : "another's agent"));
  return `The agent would come to call itself: ${[agentId, ...way].join(" → ")}`;
}
