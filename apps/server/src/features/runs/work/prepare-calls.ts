import { newId } from "@gantry/wire";
import type { ToolCall } from "../../../engines/models/chat.ts";
import { deepestBody, storableIssues } from "../../../kernel/storable-issues.ts";
import type { Run, SaidMessage, StoredCall } from "../run.ts";
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
  idOf,
  placeOf,
  type ToolTurnDeps,
  tellCall,
  tellQuestion,
  tellResult,
} from "./tool-calls.ts";

/** What a turn of the model asks for, as it is written together with the turn. */
export interface PreparedCalls {
  calls: StoredCall[];
  change: Required<Pick<RunChange, "calls" | "confirmations" | "events">>;
}

/** Of one turn, that are carried out: they run side by side, and each may be a model or a run of its own. */
const mostCalls = 64;
const confirmationSeconds = 24 * 60 * 60;
const deepest = 5;
const namedTools = 40;

/** Whatever can be said about the calls without making them: what is wrong is answered, what must ask asks. */
export async function prepareCalls(
  deps: ToolTurnDeps,
  { run, signal }: Pick<RunSession, "run" | "signal">,
  toolbox: Toolbox,
  step: number,
  message: SaidMessage,
): Promise<PreparedCalls> {
  const calls: StoredCall[] = [];
  const confirmations: Confirmation[] = [];
  const events: NewEvent[] = [];
  let hasLooked = false;
  for (const [position, call] of message.toolCalls.entries()) {
    const boxed = toolbox.find(call.name);
    const stored = newCall(step, position, call, { ...call.arguments, ...boxed?.fixed });
    calls.push(stored);
    const refuse = (result: string | undefined) => {
      Object.assign(stored, { kind: "none", status: "ended", result, isError: true });
      events.push(tellCall(run, stored, boxed), tellResult(run, stored));
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
      if (run.ancestors.length >= deepest) {
        throw new RunFailed("limit_exceeded", `Agents may call each other ${deepest} levels deep at most`);
      }
      Object.assign(stored, { kind: "agent", childId: newId("run") });
    } else stored.kind = boxed.tool.kind;
    if (boxed.kind === "tool" && boxed.asks && !run.approve.includes(boxed.name)) {
      // What a question shows may have to be fetched for the caller.
      if (!hasLooked) await requireCaller(deps, run);
      hasLooked = true;
      const asked = await questionOf(deps, boxed.tool, run, stored, signal);
      if (asked.refusal !== undefined) {
        refuse(asked.refusal);
        continue;
      }
      Object.assign(stored, { status: "asking", answer: "pending", answerHash: asked.confirmation.hash });
      confirmations.push(asked.confirmation);
      events.push(asked.event);
    } else events.push(tellCall(run, stored, boxed));
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
  { schemas }: ToolTurnDeps,
  { run: { userId, ownerId }, signal }: Pick<RunSession, "run" | "signal">,
  toolbox: Toolbox,
  boxed: BoxedTool | undefined,
  call: ToolCall,
  { arguments: args, position }: StoredCall,
): Promise<string | undefined> {
  if (position >= mostCalls) {
    return `Only the first ${mostCalls} calls of a turn are carried out, so this one was not made. Make it in a later turn where it is still needed.`;
  }
  if (!boxed) {
    const none = `There is no tool ${JSON.stringify(call.name.slice(0, 100))}.`;
    // The model has them before it. Whoever runs another's agent is not to read them here.
    if (userId !== ownerId) return `${none} Call one of those that you were given, or none.`;
    const names = toolbox.tools.slice(0, namedTools).map((tool) => tool.name);
    return `${none} The tools are: ${names.join(", ") || "none"}.`;
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
  // They would be stored otherwise than they were said: the call that is approved would not be the one that is made.
  const { issues } = storableIssues(args);
  return issues.length === 0
    ? undefined
    : wrongArguments(issues.map(({ loc, msg }) => ({ path: loc.slice(1), message: msg })));
}

/** What the tool itself has against the arguments. */
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

type Question = { refusal: string } | { refusal?: undefined; confirmation: Confirmation; event: NewEvent };

async function questionOf(
  deps: ToolTurnDeps,
  tool: RunTool,
  run: Run,
  call: StoredCall,
  signal: AbortSignal,
): Promise<Question> {
  const shown = tool.mask?.(call.arguments) ?? call.arguments;
  let target: string | undefined;
  let details: Record<string, unknown> | null = null;
  try {
    // Before what is shown: should it change in between, then what is shown is not what is approved, and is not made.
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
  return { confirmation, event: tellQuestion(run, confirmation) };
}

function toNewCall(call: StoredCall): NewCall {
  return {
    ...placeOf(call),
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
