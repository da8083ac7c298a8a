import { isId } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import type { AgentWithRevision } from "./agent.ts";
import { agentNotFound } from "./agent-faults.ts";
import type { AgentsContext } from "./context.ts";
import { lockAny, markRestored, markTakenDown } from "./take-down-store.ts";

/** Takes an agent away from everyone but its owner. Runs that have begun go on. For admins. */
export async function takeDownAgent(
  context: AgentsContext,
  agentId: string,
  reason: string,
): Promise<AgentWithRevision> {
  return change(context, agentId, (tx) => markTakenDown(tx, agentId, { reason, now: context.clock.now() }));
}

/** Gives an agent back the visibility that it had. One that is not taken down stays as it is. */
export async function restoreAgent(context: AgentsContext, agentId: string): Promise<AgentWithRevision> {
  return change(context, agentId, (tx) => markRestored(tx, agentId));
}

async function change(
  { database }: AgentsContext,
  agentId: string,
  write: (tx: Transaction) => Promise<void>,
): Promise<AgentWithRevision> {
  if (!isId("agent", agentId)) throw agentNotFound();
  return database.transaction(async (tx) => {
    if (!(await lockAny(tx, agentId))) throw agentNotFound();
    await write(tx);
    const after = await lockAny(tx, agentId);
    if (!after) throw agentNotFound();
    return after;
  });
}
