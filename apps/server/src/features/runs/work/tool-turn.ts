import { createHash } from "node:crypto";
import { newId } from "@gantry/wire";
import type { ToolCall } from "../../../engines/models/chat.ts";
import type { Schemas } from "../../../engines/schemas/schemas.ts";
import type { Vault } from "../../../engines/vault/vault.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { Fault } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Run, StoredCall } from "../run.ts";
import type { NewCall, NewEvent, RunChange } from "../run-change.ts";
import type { RunTool, ToolOutcome } from "../tools/run-tool.ts";
import { outcomeOfFailure } from "../tools/tool-failure.ts";
import type { BoxedTool, Toolbox } from "../tools/toolbox.ts";
import { callKey, repeatNote } from "./repeats.rules.ts";
import { rest } from "./rest.ts";
import type { RunSession } from "./session.ts";
import { costsTooMuch, RunFailed } from "./stopped.ts";

export interface ToolTurnDeps {
  schemas: Pick<Schemas, "validate">;
  vault: Vault;
  clock: Clock;
  log: Log;
  /**
   * Makes the run of a sub-agent, once, under the id that the call names. False: its price does not fit into what the run
   * may cost beside the calls that are under way; it may when they have ended. Rejects with a Fault, or as the run ends.
   */
  createChild(
    parent: Run,
    call: StoredCall,
    tool: BoxedTool & { kind: "agent" },
    remainingMs: number,
  ): Promise<boolean>;
}

type Confirmation = NonNullable<RunChange["confirmations"]>[number];

/** What a turn of the model asks for, as it is written together with the turn. */
export interface PreparedCalls {
  calls: StoredCall[];
  change: Required<Pick<RunChange, "calls" | "confirmations" | "events">>;
}

/** A result is cut for the model above this many bytes. */
const longestResult = 65_536;
const confirmationSeconds = 24 * 60 * 60;
const secretSeconds = 24 * 60 * 60;
const toolLimitMs = 5 * 60_000;
const lastWordMs = 250;
const deepest = 5;
const namedTools = 40;
const lookAgainMs = 200;

/** Whatever can be said about the calls without making them: what is wrong is answered, what must ask asks. */
export async function prepareCalls(
  deps: ToolTurnDeps,
  { run, signal }: Pick<RunSession, "run" | "signal">,
  toolbox: Toolbox,
  step: number,
  wanted: readonly ToolCall[],
): Promise<PreparedCalls> {
  const calls: StoredCall[] = [];
  const confirmations: Confirmation[] = [];
  const events: NewEvent[] = [];
  for (const [position, call] of wanted.entries()) {
    const boxed = toolbox.find(call.name);
    const args = { ...call.arguments, ...boxed?.fixed };
    const place = { step, position };
    const stored: StoredCall = {
      ...place,
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
    };
    calls.push(stored);
    const refusal = await refusalOf(deps, toolbox, boxed, call, args);
    if (refusal !== undefined || !boxed) {
      Object.assign(stored, { result: refusal, isError: true });
      events.push(toolCallEvent(stored, boxed), toolResultEvent(stored));
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
      const asked = await questionOf(deps, boxed.tool, run, stored, signal);
      if (asked.refusal !== undefined) {
        Object.assign(stored, { kind: "none", status: "ended", result: asked.refusal, isError: true });
        events.push(toolCallEvent(stored, boxed), toolResultEvent(stored));
        continue;
      }
      Object.assign(stored, { status: "asking", answer: "pending", answerHash: asked.confirmation.hash });
      confirmations.push(asked.confirmation);
      events.push(asked.event);
    } else events.push(toolCallEvent(stored, boxed));
  }
  return { calls, change: { calls: calls.map(toNewCall), confirmations, events } };
}

async function refusalOf(
  { schemas }: ToolTurnDeps,
  toolbox: Toolbox,
  boxed: BoxedTool | undefined,
  call: ToolCall,
  args: Record<string, unknown>,
): Promise<string | undefined> {
  if (!boxed) {
    const names = toolbox.tools.slice(0, namedTools).map((tool) => tool.name);
    return `There is no tool ${JSON.stringify(call.name.slice(0, 100))}. The tools are: ${names.join(", ") || "none"}.`;
  }
  if ("__invalid" in call.arguments) return "The arguments are not a JSON object. The tool was not called.";
  const faults = await schemas.validate(boxed.kind === "tool" ? boxed.tool.parameters : boxed.parameters, args);
  if (faults.length === 0) return undefined;
  const lines = faults.slice(0, 20).map(({ path, message }) => `- ${path.join(".") || "the arguments"}: ${message}`);
  return `The arguments are wrong, the tool was not called:\n${lines.join("\n")}`;
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
  let details: Record<string, unknown> | null = null;
  try {
    details = (await tool.preview?.({ callId: idOf(run, call), arguments: call.arguments, signal })) ?? null;
  } catch (error) {
    return { refusal: `${outcomeOfFailure(error, signal).text}\nThe tool was not called.` };
  }
  const id = newId("confirmation");
  const { step, position } = call;
  const expiresAt = new Date(deps.clock.now().getTime() + confirmationSeconds * 1000);
  return {
    confirmation: {
      id,
      step,
      position,
      tool: call.tool,
      arguments: shown,
      details,
      hash: hashOf(call),
      seconds: confirmationSeconds,
    },
    event: {
      type: "confirmation_required",
      data: {
        confirmation_id: id,
        tool: call.tool,
        arguments: shown,
        expires_at: expiresAt.toISOString(),
        ...(details && { details }),
      },
    },
  };
}

/**
 * Brings the open calls of a turn to their end, side by side. Answers what the run must wait for, if anything.
 * `recovered`: who began them is gone, so reads are made again and writes have an unknown outcome.
 */
export async function finishCalls(
  deps: ToolTurnDeps,
  session: RunSession,
  toolbox: Toolbox,
  history: readonly StoredCall[],
  recovered: boolean,
): Promise<"confirmation" | "children" | undefined> {
  const open = history.filter((call) => call.status !== "ended");
  await Promise.all(open.map((call) => finishCall(deps, session, toolbox, history, call, recovered)));
  if (open.some((call) => call.status === "asking")) return "confirmation";
  return open.some((call) => call.status === "started") ? "children" : undefined;
}

async function finishCall(
  deps: ToolTurnDeps,
  session: RunSession,
  toolbox: Toolbox,
  history: readonly StoredCall[],
  call: StoredCall,
  recovered: boolean,
): Promise<void> {
  const boxed = toolbox.find(call.tool);
  if (call.status === "asking") {
    if (call.answer === "pending") return;
    const denial = denialOf(call);
    if (denial !== undefined) return end(deps, session, call, { text: denial, isError: true });
    call.status = "started";
    await session.write({ starts: [placeOf(call)], events: [toolCallEvent(call, boxed)] });
  } else if (recovered && call.kind === "write") {
    const text =
      "The outcome of this call is unknown: it had begun when the server that made it went down. It was not repeated. Find out what happened before you do anything about it.";
    return end(deps, session, call, { text, isError: true });
  }
  if (!boxed) {
    const text = ["The tool is not there any more, so it was not called.", ...toolbox.missing].join("\n- ");
    return end(deps, session, call, { text, isError: true });
  }
  if (boxed.kind === "agent") return startChild(deps, session, call, boxed);
  const most = session.room === null ? 0 : ((await boxed.tool.mostCost?.(call.arguments)) ?? 0);
  if (!(await session.setAside(most))) throw costsTooMuch();
  const outcome = await execute(deps, session, boxed.tool, call);
  await end(deps, session, call, outcome, { most, note: repeatNote(history, call.tool, call.arguments) });
}

async function startChild(
  deps: ToolTurnDeps,
  session: RunSession,
  call: StoredCall,
  boxed: BoxedTool & { kind: "agent" },
): Promise<void> {
  try {
    while (!(await deps.createChild(session.run, call, boxed, session.remainingMs))) {
      await rest(lookAgainMs, session.signal);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.type === "insufficient_funds") throw new RunFailed("insufficient_funds", error.message, error);
    if (error.type === "service_unavailable") throw error;
    await end(deps, session, call, { text: `The agent was not run: ${error.message}`, isError: true });
  }
}

async function execute(
  { log }: ToolTurnDeps,
  session: RunSession,
  tool: RunTool,
  call: StoredCall,
): Promise<ToolOutcome> {
  const limit = AbortSignal.timeout(toolLimitMs);
  const signal = AbortSignal.any([session.signal, limit]);
  try {
    const outcome = tool.execute({ callId: idOf(session.run, call), arguments: call.arguments, signal });
    return await orAborted(signal, outcome);
  } catch (error) {
    if (session.signal.aborted) throw session.signal.reason;
    if (limit.aborted) return { text: "The tool took longer than five minutes and was stopped.", isError: true };
    log.error({ run_id: session.run.id, tool: call.tool, err: error }, "A tool of a run failed inside the server");
    return { text: "The tool failed for a reason inside the platform.", isError: true };
  }
}

/** A tool that does not listen is left behind: what it still says is of no use. */
function orAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      setTimeout(() => reject(signal.reason), lastWordMs).unref();
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

async function end(
  deps: ToolTurnDeps,
  session: RunSession,
  call: StoredCall,
  outcome: ToolOutcome,
  { most, note }: { most: number; note: string } = { most: 0, note: "" },
): Promise<void> {
  const { oneTimeSecret, costMicros = 0 } = outcome;
  const root = session.run.ancestors[0] ?? session.run.id;
  let text = cut(outcome.text) + note;
  let secrets: RunChange["secrets"];
  if (oneTimeSecret) {
    const id = newId("secret");
    const sealed = Buffer.from(deps.vault.seal(oneTimeSecret.value, secretContext(root, id))).toString("base64");
    secrets = [{ id, field: oneTimeSecret.field, sealed, seconds: secretSeconds }];
    text += `\n\nThe whole value of ${oneTimeSecret.field} (it ends in ${oneTimeSecret.last4}) is shown once, to the person who started the run: GET /v1/runs/${root}/secrets/${id}`;
  }
  Object.assign(call, { status: "ended", result: text, isError: outcome.isError });
  await session.write({
    ends: [{ ...placeOf(call), result: text, is_error: outcome.isError }],
    events: [toolResultEvent(call)],
    ...(most > 0 && { holdMore: -most }),
    ...(secrets && { secrets }),
    ...(costMicros > 0 && {
      cost: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_micros: costMicros },
    }),
  });
}

/** A sealed secret opens for the run that it was made in and nowhere else. */
export function secretContext(rootRunId: string, secretId: string): string {
  return `run-secret:${rootRunId}:${secretId}`;
}

function denialOf(call: StoredCall): string | undefined {
  if (call.answer === "expired")
    return "Nobody answered the question whether this may be done in time, so it was not done.";
  if (call.answer === "denied") {
    const why = call.answerReason ? ` The reason given: ${call.answerReason}` : "";
    return `The person who started the run denied this call, so it was not made.${why}`;
  }
  // Stored beside each other, so this can only be a mistake in the program; then nothing is done.
  return call.answerHash === hashOf(call) ? undefined : "The arguments are not those that were approved.";
}

function hashOf(call: Pick<StoredCall, "tool" | "arguments">): string {
  return createHash("sha256").update(callKey(call.tool, call.arguments)).digest("hex");
}

function idOf(run: Run, { step, position }: StoredCall): string {
  return `${run.id}-${step}-${position}`;
}

function placeOf({ step, position }: StoredCall): { step: number; position: number } {
  return { step, position };
}

function toolCallEvent(call: StoredCall, boxed: BoxedTool | undefined): NewEvent {
  const shown = boxed?.kind === "tool" ? boxed.tool.mask?.(call.arguments) : undefined;
  return { type: "tool_call", data: { tool: call.tool, arguments: shown ?? call.arguments } };
}

function toolResultEvent(call: StoredCall): NewEvent {
  return { type: "tool_result", data: { tool: call.tool, result: call.result ?? "" } };
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

export function cut(text: string): string {
  if (text.length <= longestResult / 4 || Buffer.byteLength(text) <= longestResult) return text;
  const kept = Buffer.from(text).subarray(0, longestResult).toString("utf8").replace(/�$/, "");
  return `${kept}\n[… cut: ${Buffer.byteLength(text) - longestResult} bytes more]`;
}
