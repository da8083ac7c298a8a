import { newId } from "@gantry/wire";
import type { ToolCall } from "../../../engines/models/chat.ts";
import { deepestBody, storableIssues } from "../../../kernel/storable-issues.ts";
import type { ModelMessage, Run, StoredCall } from "../run.ts";
import type { NewCall, NewEvent, RunChange } from "../run-writer.ts";
import type { RunTool } from "../tools/run-tool.ts";
import { notCalled } from "../tools/tool-failure.ts";
import type { BoxedTool, Toolbox } from "../tools/toolbox.ts";
import { requireCaller } from "./access.ts";
import { bindApproval } from "./approval.rules.ts";
import { isCutCall } from "./cut-answers.rules.ts";
import { cutCallResult, wrongArguments } from "./prompts.rules.ts";
import type { RunSession } from "./session.ts";
import { RunFailed } from "./stopped.ts";
import {
  type Confirmation,
  callEvent,
  confirmationEvent,
  idOf,
  positionOf,
  resultEvent,
  type ToolStepDeps,
} from "./tool-calls.ts";

/** The tool calls of a step, written together with the step. */
export interface PreparedCalls {
  calls: StoredCall[];
  change: Required<Pick<RunChange, "calls" | "confirmations" | "events">>;
}

/** Calls of one step run in parallel, and each may start a model or a run. */
const maxCalls = 64;
const confirmationSeconds = 24 * 60 * 60;
const maxDepth = 5;
const maxNamedTools = 40;

/** Checks the calls without making them: refuses invalid ones and creates confirmations. */
export async function prepareCalls(
  deps: ToolStepDeps,
  { run, signal }: Pick<RunSession, "run" | "signal">,
  toolbox: Toolbox,
  step: number,
  message: ModelMessage,
): Promise<PreparedCalls> {
  const calls: StoredCall[] = [];
  const confirmations: Confirmation[] = [];
  const events: NewEvent[] = [];
  let isCallerChecked = false;
  for (const [position, call] of message.toolCalls.entries()) {
    const boxed = toolbox.find(call.name);
    const stored = newCall(step, position, call, { ...call.arguments, ...boxed?.fixed });
    calls.push(stored);
    const refuse = (result: string | undefined) => {
      Object.assign(stored, { kind: "none", status: "ended", result, isError: true });
      events.push(callEvent(run, stored, boxed), resultEvent(run, stored));
    };
    const refusal = isCutCall(message, position)
      ? cutCallResult(message.cutAtTokens ?? 0)
      : await refusalOf(deps, { run, signal }, toolbox, boxed, call, stored);
    if (refusal !== undefined || !boxed) {
      refuse(refusal);
      continue;
    }
    stored.status = "started";
    if (boxed.kind === "agent") {
      if (run.ancestors.length >= maxDepth) {
        throw new RunFailed("limit_exceeded", `Agents can call each other at most ${maxDepth} levels deep`);
      }
      Object.assign(stored, { kind: "agent", childId: newId("run") });
    } else stored.kind = boxed.tool.kind;
    if (boxed.kind === "tool" && boxed.asks && !run.approve.includes(boxed.name)) {
      // A preview may read the caller's data.
      if (!isCallerChecked) await requireCaller(deps, run);
      isCallerChecked = true;
      const prepared = await prepareConfirmation(deps, boxed.tool, run, stored, signal);
      if (prepared.refusal !== undefined) {
        refuse(prepared.refusal);
        continue;
      }
      Object.assign(stored, { status: "asking", answer: "pending", answerHash: prepared.confirmation.hash });
      confirmations.push(prepared.confirmation);
      events.push(prepared.event);
    } else events.push(callEvent(run, stored, boxed));
  }
  return { calls, change: { calls: calls.map(toNewCall), confirmations, events } };
}

function newCall(step: number, position: number, call: ToolCall, args: Record<string, unknown>): StoredCall {
  return {
    step,
    position,
    callId: call.id,
    tool: call.name,
    arguments: args,
    kind: "none",
    status: "ended",
    childId: null,
    result: null,
    isError: null,
    answer: null,
    answerReason: null,
    answerHash: null,
    shownTenant: null,
  };
}

async function refusalOf(
  { schemas }: ToolStepDeps,
  { run: { userId, ownerId }, signal }: Pick<RunSession, "run" | "signal">,
  toolbox: Toolbox,
  boxed: BoxedTool | undefined,
  call: ToolCall,
  { arguments: args, position }: StoredCall,
): Promise<string | undefined> {
  if (position >= maxCalls) {
    return `Only the first ${maxCalls} calls of a step are made, so this one was not made. Make it in a later step if it is still needed.`;
  }
  if (!boxed) {
    const unknown = `Tool ${JSON.stringify(call.name.slice(0, 100))} does not exist.`;
    // Callers of other users' agents must not see the names of tools.
    if (userId !== ownerId) return `${unknown} Call only the tools that you were given.`;
    const names = toolbox.tools.slice(0, maxNamedTools).map((tool) => tool.name);
    return `${unknown} The tools are: ${names.join(", ") || "none"}.`;
  }
  if ("__invalid" in call.arguments) {
    return `The arguments are not a JSON object, or are nested more than ${deepestBody} levels deep. The tool was not called.`;
  }
  if (boxed.kind === "tool" && boxed.tool.check) return refusalBy(boxed.tool.check, args, signal);
  const faults =
    boxed.kind === "tool"
      ? await schemas[boxed.tool.checksItself ? "validateLoosely" : "validate"](boxed.tool.parameters, args, userId)
      : await schemas.validate(boxed.parameters, args, userId);
  if (faults.length > 0) return wrongArguments(faults);
  // Stored arguments must equal those of the call: a confirmation is for exactly this call.
  const { issues } = storableIssues(args);
  return issues.length === 0
    ? undefined
    : wrongArguments(issues.map(({ loc, msg }) => ({ path: loc.slice(1), message: msg })));
}

function refusalBy(
  check: NonNullable<RunTool["check"]>,
  args: StoredCall["arguments"],
  signal: AbortSignal,
): string | undefined {
  try {
    check(args);
  } catch (error) {
    return notCalled(error, signal);
  }
  return undefined;
}

type PreparedConfirmation = { refusal: string } | { refusal?: undefined; confirmation: Confirmation; event: NewEvent };

async function prepareConfirmation(
  deps: ToolStepDeps,
  tool: RunTool,
  run: Run,
  call: StoredCall,
  signal: AbortSignal,
): Promise<PreparedConfirmation> {
  const shown = tool.mask?.(call.arguments) ?? call.arguments;
  let target: string | undefined;
  let details: Record<string, unknown> | null = null;
  try {
    // Read before the preview: if the target changes in between, the approval does not match and the call is not made.
    target = await tool.target?.(call.arguments);
    details = (await tool.preview?.({ callId: idOf(run, call), arguments: call.arguments, signal })) ?? null;
  } catch (error) {
    return { refusal: notCalled(error, signal) };
  }
  const { step, position, tool: name } = call;
  const confirmation = {
    id: newId("confirmation"),
    step,
    position,
    tool: name,
    arguments: shown,
    details,
    hash: bindApproval(call, target),
    expires_at: new Date(deps.clock.now().getTime() + confirmationSeconds * 1000).toISOString(),
  };
  return { confirmation, event: confirmationEvent(run, confirmation) };
}

function toNewCall(call: StoredCall): NewCall {
  return {
    ...positionOf(call),
    call_id: call.callId,
    tool: call.tool,
    arguments: call.arguments,
    kind: call.kind,
    status: call.status,
    child_id: call.childId ?? undefined,
    result: call.result ?? undefined,
    is_error: call.isError ?? undefined,
  };
}
