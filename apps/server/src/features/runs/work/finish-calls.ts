import { newId } from "@gantry/wire";
import { boundedContent, type SpanOptions } from "../../../engines/telemetry/telemetry.ts";
import { Fault, isUnavailable } from "../../../kernel/errors.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Runnable } from "../../agents/index.ts";
import type { Run, StoredCall } from "../run.ts";
import type { RunChange } from "../run-writer.ts";
import type { RunTool, ToolOutcome } from "../tools/run-tool.ts";
import { notCalled } from "../tools/tool-failure.ts";
import type { BoxedTool, Toolbox } from "../tools/toolbox.ts";
import { requireCaller } from "./access.ts";
import { mismatchOf } from "./approval.rules.ts";
import type { Recalled } from "./recall-calls.ts";
import type { RunSession } from "./session.ts";
import { maxCostReached, RunFailed } from "./stopped.ts";
import {
  callEvent,
  idOf,
  positionOf,
  resultEvent,
  secretContext,
  shownArguments,
  type ToolStepDeps,
  type WantedChild,
} from "./tool-calls.ts";
import { repeatNote, truncateResult } from "./tool-results.rules.ts";

const secretSeconds = 24 * 60 * 60;
const toolLimitMs = 5 * 60_000;
const graceMs = 250;
const pollMs = 200;

/**
 * Finishes the open calls of a step in parallel. Returns what the run must wait for, if anything. `recovered` is set if
 * another node started the calls: known outcomes are stored first, even if the key was revoked; then writes get an unknown
 * outcome and reads are repeated.
 */
export async function finishCalls(
  deps: ToolStepDeps,
  session: RunSession,
  toolbox: Toolbox,
  history: readonly StoredCall[],
  recovered: Recalled | undefined,
): Promise<"confirmation" | "children" | undefined> {
  const open = history.filter((call) => call.status !== "ended");
  for (const call of open) {
    const outcome = recovered?.outcomes.get(idOf(session.run, call));
    if (outcome) await end(deps, session, call, outcome, { most: 0, note: repeatNote(history, call, outcome.text) });
  }
  const due = open.filter((call) => call.status !== "ended" && call.answer !== "pending");
  let work: Promise<void>[] = [];
  if (due.length > 0) {
    // The key may have been revoked while the run waited.
    const caller = await requireCaller(deps, session.run);
    work = due.map((call) =>
      finishCall(deps, session, toolbox, history, call, { recovered: recovered !== undefined, caller }),
    );
  }
  session.underWay = Promise.allSettled(work);
  await Promise.all(work);
  if (open.some((call) => call.status === "asking")) return "confirmation";
  return open.some((call) => call.status === "started") ? "children" : undefined;
}

async function finishCall(
  deps: ToolStepDeps,
  session: RunSession,
  toolbox: Toolbox,
  history: readonly StoredCall[],
  call: StoredCall,
  { recovered, caller }: { recovered: boolean; caller: Caller },
): Promise<void> {
  const boxed = toolbox.find(call.tool);
  if (recovered && call.kind === "write" && call.status === "started") {
    const text =
      "The outcome of this call is unknown: the server went down during the call. The call was not repeated. Find out what happened before you continue.";
    return end(deps, session, call, { text, isError: true });
  }
  // A repeated read is checked again, too.
  const denial = await denialOf(session, call, boxed);
  if (denial !== undefined) return end(deps, session, call, { text: denial, isError: true });
  if (call.status === "asking") {
    call.status = "started";
    await session.write({ starts: [positionOf(call)], events: [callEvent(session.run, call, boxed)] });
  }
  if (call.kind === "agent") {
    const child = boxed?.kind === "agent" ? boxed.child : undefined;
    const onOther = (current: Runnable) => toolbox.follow(call.tool, current);
    const checked = recovered ? undefined : child?.revision.id;
    return startChild(deps, session, call, { agentId: child?.agent.id, checked, onOther, caller });
  }
  if (boxed?.kind !== "tool") {
    const why = toolbox.mayBeAway(call.tool)
      ? "The server of the tool did not answer, so the tool was not called. Try again later."
      : "The tool no longer exists, so it was not called.";
    const text = [why, ...toolbox.missing].join("\n- ");
    return end(deps, session, call, { text, isError: true });
  }
  const most = session.budget === null ? 0 : ((await boxed.tool.mostCost?.(call.arguments)) ?? 0);
  if (!(await session.setAside(most))) throw maxCostReached();
  const outcome = await deps.telemetry.inSpan(
    () => describeCall(session.run, call),
    async (span) => {
      const shows = deps.telemetry.capturesContent && caller.keepsInputs;
      if (shows)
        span.set({ "gen_ai.tool.call.arguments": boundedContent(JSON.stringify(shownArguments(call, boxed))) });
      const result = await execute(deps, session, boxed.tool, call, most);
      if (shows) span.set({ "gen_ai.tool.call.result": boundedContent(result.text) });
      if (result.isError) span.fail("tool_error");
      return result;
    },
  );
  await end(deps, session, call, outcome, { most, note: repeatNote(history, call, outcome.text) });
}

async function startChild(
  deps: ToolStepDeps,
  session: RunSession,
  call: StoredCall,
  wanted: Omit<WantedChild, "remainingMs">,
): Promise<void> {
  const { run } = session;
  let { caller } = wanted;
  try {
    while (!(await deps.createChild(run, call, { ...wanted, caller, remainingMs: session.remainingMs }))) {
      await sleep(pollMs, session.signal);
      caller = await requireCaller(deps, run);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.type === "insufficient_funds") throw new RunFailed("insufficient_funds", error.message, error);
    if (isUnavailable(error)) throw error;
    await end(deps, session, call, { text: `The agent was not run: ${error.message}`, isError: true });
  }
}

async function execute(
  { log }: ToolStepDeps,
  session: RunSession,
  tool: RunTool,
  call: StoredCall,
  most: number,
): Promise<ToolOutcome> {
  const limit = AbortSignal.timeout(toolLimitMs);
  const signal = AbortSignal.any([session.signal, limit]);
  const tookTooLong = { text: "The tool took longer than five minutes and was stopped.", isError: true };
  try {
    const work = tool.execute({
      callId: idOf(session.run, call),
      arguments: call.arguments,
      signal,
      ...(session.budget !== null && { setAside: most }),
    });
    // A charged call finishes before the run ends, so that the run includes the charge.
    const outcome = await (tool.mostCost ? work : orAborted(signal, work));
    return limit.aborted && outcome.isError ? { ...outcome, ...tookTooLong } : outcome;
  } catch (error) {
    if (session.signal.aborted) throw session.signal.reason;
    if (limit.aborted) return tookTooLong;
    log.error({ run_id: session.run.id, tool: call.tool, err: error }, "tool of a run failed");
    return { text: "The tool failed because of an internal error.", isError: true };
  }
}

/** Arguments and result are added if the operator wants content in traces. */
function describeCall(run: Run, call: StoredCall): SpanOptions {
  return {
    name: `execute_tool ${call.tool}`,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": call.tool,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": idOf(run, call),
      "gantry.run_id": run.id,
    },
  };
}

/** Does not wait longer for a tool that ignores the abort. */
function orAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      setTimeout(() => reject(signal.reason), graceMs).unref();
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Why a call with a confirmation is not made, if it is not. */
async function denialOf(
  { signal }: RunSession,
  call: StoredCall,
  boxed: BoxedTool | undefined,
): Promise<string | undefined> {
  if (call.answer === "expired") return "The confirmation was not answered in time, so the call was not made.";
  if (call.answer === "denied") {
    const why = call.answerReason ? ` Reason: ${call.answerReason}` : "";
    return `The person who started the run denied this call, so it was not made.${why}`;
  }
  // Missing tools are not called anyway.
  if (call.answer === null || boxed?.kind !== "tool") return undefined;
  try {
    return mismatchOf(call, await boxed.tool.target?.(call.arguments));
  } catch (error) {
    return notCalled(error, signal);
  }
}

async function end(
  deps: ToolStepDeps,
  session: RunSession,
  call: StoredCall,
  outcome: ToolOutcome,
  { most, note }: { most: number; note: string } = { most: 0, note: "" },
): Promise<void> {
  const id = idOf(session.run, call);
  const { oneTimeSecret, used = session.unwritten.get(id) } = outcome;
  const root = session.run.ancestors[0] ?? session.run.id;
  let after = note;
  let secrets: RunChange["secrets"];
  if (oneTimeSecret) {
    const secretId = newId("secret");
    const sealed = Buffer.from(deps.vault.seal(oneTimeSecret.value, secretContext(root, secretId))).toString("base64");
    secrets = [{ id: secretId, field: oneTimeSecret.field, sealed, seconds: secretSeconds }];
    const tail = oneTimeSecret.last4 ? ` (it ends in ${oneTimeSecret.last4})` : "";
    after += `\n\nThe whole value of ${oneTimeSecret.field}${tail} is shown once, to the person who started the run: GET /v1/runs/${root}/secrets/${secretId}`;
  }
  const text = truncateResult(outcome.text, after);
  Object.assign(call, { status: "ended", result: text, isError: outcome.isError });
  await session.write({
    ends: [{ ...positionOf(call), result: text, is_error: outcome.isError }],
    events: [resultEvent(session.run, call)],
    ...(most > 0 && { holdMore: -most }),
    ...(secrets && { secrets }),
    ...(used && { cost: used }),
  });
  session.unwritten.delete(id);
}
