import { isId } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { type AgentWithRevision, agentNotFound } from "./agent.ts";
import type { AgentsContext } from "./context.ts";
import { recordAgent } from "./record-agent.ts";
import { type PairRow, pairColumns, toPair } from "./store.ts";

/** For admins: hides an agent from everyone but its owner. Runs under way continue. */
export async function takeDownAgent(
  context: AgentsContext,
  agentId: string,
  reason: string,
): Promise<AgentWithRevision> {
  const now = context.clock.now();
  return change(context, agentId, { action: "agent.take_down", reason }, (tx) =>
    markTakenDown(tx, agentId, { reason, now }),
  );
}

/** Restores the former visibility. */
export async function restoreAgent(context: AgentsContext, agentId: string): Promise<AgentWithRevision> {
  return change(context, agentId, { action: "agent.reinstate" }, (tx) => markRestored(tx, agentId));
}

async function change(
  { database }: AgentsContext,
  agentId: string,
  { action, reason }: { action: "agent.take_down" | "agent.reinstate"; reason?: string },
  write: (tx: Transaction) => Promise<void>,
): Promise<AgentWithRevision> {
  if (!isId("agent", agentId)) throw agentNotFound();
  return database.transaction(async (tx) => {
    const before = await lockAny(tx, agentId);
    if (!before) throw agentNotFound();
    await write(tx);
    const after = await lockAny(tx, agentId);
    if (!after) throw agentNotFound();
    await recordAgent(tx, action, { before, after, reason });
    return after;
  });
}

/** Locks an agent of any user. */
export async function lockAny(tx: Transaction, agentId: string): Promise<AgentWithRevision | undefined> {
  const [row] = await tx<PairRow[]>`
    select ${pairColumns(tx)}
    from agents a join users u on u.id = a.owner_id join agent_revisions r on r.id = a.latest_revision_id
    where a.id = ${agentId} and a.deleted_at is null
    for update of a`;
  return row && toPair(row);
}

/** A second take-down keeps the visibility that is restored later. */
export async function markTakenDown(
  tx: Transaction,
  agentId: string,
  { reason, now }: { reason: string; now: Date },
): Promise<void> {
  await tx`
    update agents set taken_down = jsonb_build_object('at', ${now.toISOString()}::text, 'reason', ${reason}::text,
      'visibility', coalesce(taken_down ->> 'visibility', visibility)), visibility = 'private'
    where id = ${agentId}`;
}

export async function markRestored(tx: Transaction, agentId: string): Promise<void> {
  await tx`
    update agents set visibility = coalesce(taken_down ->> 'visibility', visibility), taken_down = null
    where id = ${agentId}`;
}
