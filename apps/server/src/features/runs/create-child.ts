import { newId } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { microsOfDollars } from "../../kernel/money.ts";
import type { RunsContext } from "./context.ts";
import { addDue, insertRun, lockAbove } from "./create-store.ts";
import { reserve, saleNameOf } from "./reserve-run.ts";
import type { Run, StoredCall } from "./run.ts";
import { findRun } from "./store.ts";
import { underOthers } from "./tools/run-tool.ts";
import type { BoxedTool } from "./tools/toolbox.ts";
import { costsTooMuch, RunStopped } from "./work/stopped.ts";

/**
 * The run of a sub-agent: for the same caller, in what is left of the parent's time, under the limits of cost of all
 * above it. Its id stands in the parent's call, so that after a crash it is found and not made again.
 */
export async function createChild(
  context: Pick<RunsContext, "database" | "clock" | "telemetry" | "wakeWorkers">,
  parent: Run,
  call: StoredCall,
  { child: { agent, revision } }: BoxedTool & { kind: "agent" },
  remainingMs: number,
): Promise<boolean> {
  if (call.childId === null) throw new Error("a call of an agent has no run");
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
    connectors: connectorsBelow(parent),
    baseUrl: parent.baseUrl,
    callId: newId("prediction"),
    // What an agent of the same creator costs is part of what the parent costs.
    price: isOwner || agent.ownerId === parent.ownerId ? 0 : microsOfDollars(revision.snapshot.pricing.per_run),
    saleName: saleNameOf(agent),
  };
  const isMade = await context.database.transaction(async (tx) => {
    // Whoever cancels or ends the parent waits for this lock, and so finds the child, or comes before it.
    const above = await lockAbove(tx, parent);
    if (!above.isLive) throw new RunStopped(above.isCancelled ? "cancelled" : "lost");
    // A child that is there already was made before a crash: it reserves nothing a second time.
    if (await findRun(tx, run.id)) return true;
    if (above.agentIds.includes(agent.id)) {
      throw fault("conflict", "An agent cannot call itself, through others neither");
    }
    if (above.room !== null && run.price > above.room) throw costsTooMuch();
    if (above.spare !== null && run.price > above.spare) return false;
    await insertRun(tx, run, await reserve(context, tx, run), context.telemetry.traceparent());
    await addDue(tx, run.ancestors, run.price);
    return true;
  });
  if (isMade) context.wakeWorkers();
  return isMade;
}

function connectorsBelow({ ownerId, userId, connectors }: Run): readonly string[] {
  return ownerId === userId || connectors.includes(underOthers) ? connectors : [...connectors, underOthers];
}
