import { newId } from "@gantry/wire";
import type { ChatCall } from "../../../engines/models/chat.ts";
import { Fault, isUnavailable } from "../../../kernel/errors.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import type { ChatAnswer, ChatEnd, ChatRequest, Predictions } from "../../predictions/index.ts";
import { type CallUsage, usageOf } from "../call-usage.ts";
import type { TextRole } from "../converse/answer-text.rules.ts";
import type { CallText } from "../published-text.ts";
import type { RunTexts } from "../run-texts.ts";
import type { SummaryRange } from "../run-writer.ts";
import { isOwnersOwnRun } from "../tools/run-tool.ts";
import { sponsorOf } from "./access.ts";
import type { RunSession } from "./session.ts";
import type { ShownStep } from "./shown-step.rules.ts";
import { isHandedOn, keyRevoked, RunFailed, RunStopped } from "./stopped.ts";

export interface ModelCallDeps {
  predictions: Pick<Predictions, "chat">;
  texts: Pick<RunTexts, "open">;
}

export interface CalledModel {
  answer: ChatAnswer;
  predictionId: string;
  used: CallUsage;
  firstTokenMs?: number | undefined;
}

/** Pauses before retries of a call. Drivers have retried before. */
const pausesMs = [1_000, 4_000];

/**
 * One call of the run's model: a separate prediction, admitted and charged. The run contains the id before the call, so
 * after a crash recall-calls.ts finds the answer of a charged call.
 */
export async function callModel(
  deps: ModelCallDeps,
  session: RunSession,
  {
    callId,
    summingUp,
    shown,
    plan,
    ...request
  }: {
    /** Prediction id of the first attempt. */
    callId: string;
    summingUp: SummaryRange | undefined;
    /** Undefined if no reader may see the text. */
    shown: ShownStep | undefined;
    caller: Caller;
    /** Called before each attempt, because each is a separate prediction. */
    plan(): Promise<{ model: Model; chat: Omit<ChatCall, "signal">; setAside: number }>;
    inputTokens: number;
  },
): Promise<CalledModel> {
  let predictionId = callId;
  for (let attempt = 0; ; attempt++) {
    session.signal.throwIfAborted();
    const { model, chat, setAside } = await plan();
    const text = shown && deps.texts.open(session.run, { step: shown.step, callId: predictionId }, shown.isAwaited);
    const followed = text ? { ...chat, ...callbacks(text, shown.role) } : chat;
    const end = await makeCall(deps, session, { ...request, predictionId, model, chat: followed, setAside }).finally(
      () => text?.close(),
    );
    if (end.kind === "answered") {
      return { answer: end.answer, predictionId, used: usageOf(end), firstTokenMs: end.firstTokenMs };
    }
    const pause = pausesMs[attempt];
    const willRetry = pause !== undefined && end.fault.retryable && !end.isOurs && !session.signal.aborted;
    if (willRetry || end.price > 0 || end.usage) {
      // Counts the usage and replaces the id in one write; otherwise the next claim would count it again.
      predictionId = newId("prediction");
      const summing_up = summingUp && { call_id: predictionId, ...summingUp };
      await session.write({ call_id: predictionId, summing_up, cost: usageOf(end) }).catch(ignoreLost);
    }
    session.signal.throwIfAborted();
    if (end.isOurs) throw new RunStopped("shutdown");
    if (!willRetry) throw failureOf(end.fault, sponsorOf(model, session.run) !== undefined);
    await sleep(pause, session.signal);
  }
}

function callbacks(text: CallText, role: TextRole): Pick<ChatCall, "onText" | "onReasoning"> {
  const onReasoning = (piece: string) => text.add("reasoning", piece);
  if (role === "none") return { onReasoning };
  return { onReasoning, onText: role === "thought" ? onReasoning : (piece) => text.add("text", piece) };
}

async function makeCall(
  { predictions }: ModelCallDeps,
  session: RunSession,
  request: Pick<ChatRequest, "predictionId" | "caller" | "model" | "chat" | "inputTokens"> & { setAside: number },
): Promise<ChatEnd> {
  const sponsorId = sponsorOf(request.model, session.run);
  try {
    return await predictions.chat({
      ...request,
      runId: session.run.id,
      setAside: session.budget === null || sponsorId !== undefined ? undefined : request.setAside,
      // Callers do not see what other users' agents call, so the balance must cover the whole call.
      mustBeCovered: !isOwnersOwnRun(session.run),
      sponsorId,
      signal: session.signal,
      isHandedOn: () => isHandedOn(session.signal.reason),
    });
  } catch (error) {
    // With the database unavailable it is unknown whether the call was admitted. The next claim finds out.
    if (!(error instanceof Fault) || isUnavailable(error)) throw error;
    return { kind: "failed", fault: error, usage: undefined, price: 0, isOurs: false };
  }
}

function failureOf(fault: Fault, isSponsored: boolean): Error {
  // Another claim retries the run.
  if (isUnavailable(fault)) return fault;
  if (fault.type === "insufficient_funds") {
    return new RunFailed(
      "insufficient_funds",
      isSponsored
        ? "The agent's creator does not have enough credit for its private model. You were not charged."
        : "The balance or the budget of the API key does not cover another model call",
      fault,
    );
  }
  if (fault.type === "unauthorized") return keyRevoked(fault);
  return new RunFailed("internal", `The model failed: ${fault.message}`, fault);
}

function ignoreLost(error: unknown): void {
  if (!(error instanceof RunStopped)) throw error;
}
