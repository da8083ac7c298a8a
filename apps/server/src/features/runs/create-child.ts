import { newId } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { microsOfDollars } from "../../kernel/money.ts";
import type { RunsContext } from "./context.ts";
import { reserve, saleNameOf } from "./create-run.ts";
import type { Run, StoredCall } from "./run.ts";
import { insertRun } from "./store.ts";
import type { BoxedTool } from "./tools/toolbox.ts";

/**
 * The run of a sub-agent: for the same caller, in what is left of the parent's time, under the limits of cost of all
 * above it. Its id stands in the parent's call, so that after a crash it is found and not made again.
 */
export async function createChild(
  context: Pick<RunsContext, "database" | "clock" | "wakeWorkers">,
  parent: Run,
  call: StoredCall,
  { child: { agent, revision } }: BoxedTool & { kind: "agent" },
  remainingMs: number,
): Promise<void> {
  if (call.childId === null) throw new Error("a call of an agent has no run");
  if (agent.id === parent.agentId) throw fault("conflict", "An agent cannot call itself");
  const isOwner = agent.ownerId === parent.userId;
  const run = {
    id: call.childId,
    agentId: agent.id,
    revisionId: revision.id,
    ownerId: agent.ownerId,
    userId: parent.userId,
    keyId: parent.keyId,
    ancestors: [...parent.ancestors, parent.id],
    parentStep: call.step,
    parentPosition: call.position,
    input: call.arguments,
    maxCost: null,
    timeoutMs: Math.max(1, Math.round(remainingMs)),
    maxSteps: parent.maxSteps,
    approve: parent.approve,
    connectors: parent.connectors,
    baseUrl: parent.baseUrl,
    callId: newId("prediction"),
    // What an agent of the same creator costs is part of what the parent costs.
    price: isOwner || agent.ownerId === parent.ownerId ? 0 : microsOfDollars(revision.snapshot.pricing.per_run),
    saleName: saleNameOf(agent),
  };
  await context.database.transaction(async (tx) => {
    // First, so that a child that is there already reserves nothing a second time.
    if (!(await insertRun(tx, { ...run, price: 0 }, null)) || run.price === 0) return;
    const month = await reserve(context, tx, run);
    await tx`update runs set price_micros = ${run.price}, key_month = ${month}::text::date where id = ${run.id}`;
  });
  context.wakeWorkers();
}
