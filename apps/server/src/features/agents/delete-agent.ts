import { isId } from "@gantry/wire";
import type { Caller } from "../accounts/index.ts";
import { agentNotFound } from "./agent-faults.ts";
import type { AgentsContext } from "./context.ts";
import { lockOwn, markDeleted } from "./store.ts";

/** The agent is gone for reads and new runs, and its slug is free again. Its runs stay readable and live ones go on. */
export async function deleteAgent({ database, clock }: AgentsContext, caller: Caller, agentId: string): Promise<void> {
  if (!isId("agent", agentId)) throw agentNotFound();
  await database.transaction(async (tx) => {
    const agent = await lockOwn(tx, caller.userId, agentId);
    if (!agent) throw agentNotFound();
    await markDeleted(tx, caller.userId, agentId, clock.now());
  });
}
