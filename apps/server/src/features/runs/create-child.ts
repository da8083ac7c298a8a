import { newId } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { microsOfDollars } from "../../kernel/money.ts";
import type { Runnable } from "../agents/index.ts";
import type { RunsContext } from "./context.ts";
import { addDue, countLiveDescendants, insertRun, lockAbove, type NewRun } from "./create-store.ts";
import { reserve, saleNameOf } from "./reserve-run.ts";
import type { Run, StoredCall } from "./run.ts";
import { findRun } from "./store.ts";
import { calledByOthersAgent } from "./tools/run-tool.ts";
import { refuseOutOfReach } from "./tools/toolbox.ts";
import { wrongArguments } from "./work/prompts.rules.ts";
import { costsTooMuch, RunStopped } from "./work/stopped.ts";
import type { WantedChild } from "./work/tool-calls.ts";

type ChildDeps = Pick<RunsContext, "database" | "clock" | "telemetry" | "wakeWorkers" | "agents" | "schemas">;

/** A turn may hold 64 calls and agents may be 5 deep: without this bound one run could start a thousand million others. */
const maxLiveDescendants = 1_000;

/**
 * The run of a sub-agent: for the same caller, in what is left of the parent's time, under the limits of cost of all
 * above it. Its id stands in the parent's call, so that after a crash it is found and not made again.
 *
 * The agent counts as it is at this moment, not as it was when the parent was claimed: one that is gone or hidden is not
 * run, of one that was published anew the new revision is, at its price.
 */
export async function createChild(
  context: ChildDeps,
  parent: Run,
  call: StoredCall,
  wanted: WantedChild,
): Promise<boolean> {
  for (let { checked } = wanted; ; ) {
    const made = await context.database.transaction((tx) =>
      makeChild(context, tx, parent, call, { ...wanted, checked }),
    );
    if (typeof made === "boolean") {
      if (made) context.wakeWorkers();
      return made;
    }
    // Nothing is checked while rows are locked: that takes time.
    refuseOutOfReach(wanted.caller, made);
    wanted.onOther(made);
    const faults = await context.schemas.validate(made.revision.snapshot.input_schema, call.arguments, parent.userId);
    if (faults.length > 0) throw fault("value_error", wrongArguments(faults));
    checked = made.revision.id;
  }
}

/** Whether it was made, or there was no room for its price; or the agent, where the call was not checked against it. */
async function makeChild(
  context: ChildDeps,
  tx: Transaction,
  parent: Run,
  call: StoredCall,
  { agentId, checked, remainingMs }: WantedChild,
): Promise<boolean | Runnable> {
  if (call.childId === null) throw new Error("a call of an agent has no run");
  // Whoever cancels or ends the parent waits for this lock, and so finds the child, or comes before it.
  const above = await lockAbove(tx, parent);
  if (!above.isLive) throw new RunStopped(above.isCancelled ? "cancelled" : "lost");
  // A child that is there already was made before a crash: it reserves nothing a second time.
  if (await findRun(tx, call.childId)) return true;
  if (agentId === undefined) throw fault("not_found", "The agent is not there any more");
  const present = await context.agents.lockRunnable(tx, parent.ownerId, agentId);
  if (present.revision.id !== checked) return present;
  if (above.agentIds.includes(present.agent.id)) {
    throw fault("conflict", "An agent cannot call itself, through others neither");
  }
  const root = parent.ancestors[0] ?? parent.id;
  if ((await countLiveDescendants(tx, root, maxLiveDescendants)) === maxLiveDescendants) {
    const bound = maxLiveDescendants.toLocaleString("en");
    throw fault("conflict", `This run already has ${bound} sub-agents that have not ended. Call fewer at a time.`);
  }
  const run = newChild(parent, call, call.childId, present, remainingMs);
  if (above.room !== null && run.price > above.room) throw costsTooMuch();
  if (above.spare !== null && run.price > above.spare) return false;
  await insertRun(tx, run, await reserve(context, tx, run), context.telemetry.traceparent());
  await addDue(tx, run.ancestors, run.price);
  return true;
}

function newChild(
  parent: Run,
  call: StoredCall,
  id: string,
  { agent, revision }: Runnable,
  remainingMs: number,
): NewRun {
  const isOwner = agent.ownerId === parent.userId;
  return {
    id,
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
}

function connectorsBelow({ ownerId, userId, connectors }: Run): readonly string[] {
  return ownerId === userId || connectors.includes(calledByOthersAgent)
    ? connectors
    : [...connectors, calledByOthersAgent];
}
