import { newId } from "@gantry/wire";
import type { Transaction } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { microsOfDollars } from "../../kernel/money.ts";
import { agentName, type Runnable } from "../agents/index.ts";
import type { RunsContext } from "./context.ts";
import { addDue, countLiveDescendants, insertRun, lockChain, type NewRun } from "./create-store.ts";
import { reserve } from "./reserve-run.ts";
import type { Run, StoredCall } from "./run.ts";
import { findRun } from "./store.ts";
import { calledByOthersAgent } from "./tools/run-tool.ts";
import { refuseOutOfReach } from "./tools/toolbox.ts";
import { isAgentListed } from "./work/access.ts";
import { wrongArguments } from "./work/prompts.rules.ts";
import { maxCostReached, RunStopped } from "./work/stopped.ts";
import type { WantedChild } from "./work/tool-calls.ts";

type ChildDeps = Pick<RunsContext, "database" | "clock" | "telemetry" | "wakeWorkers" | "agents" | "schemas">;

/** With 64 calls a step and 5 levels, a run could otherwise start a billion others. */
const maxLiveDescendants = 1_000;

/**
 * Creates the run of a sub-agent for the same caller, within the remaining time and the cost limits of its ancestors. The
 * parent's call contains the id, so a run created before a crash is found again.
 *
 * Uses the agent as it is now: a deleted or hidden agent does not run, and a newer published revision runs at its price.
 * Returns false if the price does not fit yet beside the calls under way.
 */
export async function createChild(
  context: ChildDeps,
  parent: Run,
  call: StoredCall,
  wanted: WantedChild,
): Promise<boolean> {
  for (let { checked } = wanted; ; ) {
    const result = await context.database.transaction((tx) =>
      insertChild(context, tx, parent, call, { ...wanted, checked }),
    );
    if (typeof result === "boolean") {
      if (result) context.wakeWorkers();
      return result;
    }
    // Checked outside the transaction, because validation is slow and rows are locked there.
    if (!(await isAgentListed(context, wanted.caller, parent))) await refuseOutOfReach(context, wanted.caller, result);
    wanted.onOther(result);
    const { input_schema: schema } = result.revision.snapshot;
    const faults = await context.schemas.validate(schema, call.arguments, parent.userId);
    if (faults.length > 0) throw fault("value_error", wrongArguments(faults));
    checked = result.revision.id;
  }
}

/** Whether the run was created, or the current agent if the arguments were checked against another revision. */
async function insertChild(
  context: ChildDeps,
  tx: Transaction,
  parent: Run,
  call: StoredCall,
  { agentId, checked, remainingMs }: WantedChild,
): Promise<boolean | Runnable> {
  if (call.childId === null) throw new Error("call of an agent without a run id");
  // Cancelling or ending the parent waits for this lock, so it finds the child or comes first.
  const chain = await lockChain(tx, parent);
  if (!chain.isLive) throw new RunStopped(chain.isCancelled ? "cancelled" : "lost");
  // Created before a crash: the price is already reserved.
  if (await findRun(tx, call.childId)) return true;
  if (agentId === undefined) throw fault("not_found", "The agent no longer exists");
  const current = await context.agents.lockRunnable(tx, parent.ownerId, agentId);
  if (current.revision.id !== checked) return current;
  if (chain.agentIds.includes(current.agent.id)) {
    throw fault("conflict", "An agent cannot call itself, directly or through other agents.");
  }
  const root = parent.ancestors[0] ?? parent.id;
  if ((await countLiveDescendants(tx, root, maxLiveDescendants)) === maxLiveDescendants) {
    const bound = maxLiveDescendants.toLocaleString("en");
    throw fault("conflict", `This run already has ${bound} sub-agents that have not ended. Call fewer at a time.`);
  }
  const run = newChild(parent, call, call.childId, current, remainingMs);
  if (chain.budget !== null && run.price > chain.budget) throw maxCostReached();
  if (chain.freeBudget !== null && run.price > chain.freeBudget) return false;
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
    connectors: childConnectors(parent),
    baseUrl: parent.baseUrl,
    door: null,
    isFollowed: false,
    callId: newId("prediction"),
    // An agent of the same creator is included in the parent's price.
    price: isOwner || agent.ownerId === parent.ownerId ? 0 : microsOfDollars(revision.snapshot.pricing.per_run),
    saleName: agentName(agent),
    sourceId: null,
    sequence: null,
    threadId: null,
  };
}

function childConnectors({ ownerId, userId, connectors }: Run): readonly string[] {
  return ownerId === userId || connectors.includes(calledByOthersAgent)
    ? connectors
    : [...connectors, calledByOthersAgent];
}
