import { newId } from "@gantry/wire";
import type { ChatCall } from "../../../engines/models/chat.ts";
import type { TokenUsage } from "../../../engines/models/driver.ts";
import { Fault } from "../../../kernel/errors.ts";
import { sleep } from "../../../kernel/sleep.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import type { ChatAnswer, ChatEnd, ChatRequest, Predictions } from "../../predictions/index.ts";
import type { SummingUp, UsedByCall } from "../run-writer.ts";
import { isOwnersOwnRun } from "../tools/run-tool.ts";
import { sponsorOf } from "./access.ts";
import type { RunSession } from "./session.ts";
import { isHandedOn, keyIsGone, RunFailed, RunStopped } from "./stopped.ts";

export interface ModelCallDeps {
  predictions: Pick<Predictions, "chat">;
}

export interface CalledModel {
  answer: ChatAnswer;
  predictionId: string;
  used: UsedByCall;
}

/** Tries of a call whose upstream is away for a moment; the drivers have retried before. */
const pausesMs = [1_000, 4_000];

/**
 * One call of the run's model: a prediction of its own, admitted, charged and counted. The id stands in the run before
 * the call is made, so a call that was paid for and whose answer a crash kept from the run is recalled, not repeated: see
 * recall-calls.ts.
 */
export async function callModel(
  deps: ModelCallDeps,
  session: RunSession,
  {
    callId,
    summingUp,
    plan,
    ...request
  }: {
    /** The id that the run has for its next call. */
    callId: string;
    summingUp: SummingUp | undefined;
    caller: Caller;
    /** What is asked, and of which model as it is then. Asked for before each try: each is a prediction of its own. */
    plan(): Promise<{ model: Model; chat: Omit<ChatCall, "signal">; setAside: number }>;
    inputTokens: number;
  },
): Promise<CalledModel> {
  let predictionId = callId;
  for (let attempt = 0; ; attempt++) {
    session.signal.throwIfAborted();
    const { model, chat, setAside } = await plan();
    const end = await makeCall(deps, session, { ...request, predictionId, model, chat, setAside });
    if (end.kind === "answered") return { answer: end.answer, predictionId, used: usedOf(end) };
    const pause = pausesMs[attempt];
    const isAgain = pause !== undefined && end.fault.retryable && !end.isOurs && !session.signal.aborted;
    if (isAgain || end.price > 0 || end.usage) {
      // What it used is counted as its id is given up: the next claim would recall it and count it once more.
      predictionId = newId("prediction");
      const summing_up = summingUp && { call_id: predictionId, ...summingUp };
      await session.write({ call_id: predictionId, summing_up, cost: usedOf(end) }).catch(ignoreLost);
    }
    session.signal.throwIfAborted();
    if (end.isOurs) throw new RunStopped("shutdown");
    if (!isAgain) throw failureOf(end.fault, sponsorOf(model, session.run) !== undefined);
    await sleep(pause, session.signal);
  }
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
      setAside: session.room === null || sponsorId !== undefined ? undefined : request.setAside,
      // What another's agent calls, its caller has not seen. Of one's own one knows what it may call.
      mustBeCovered: !isOwnersOwnRun(session.run),
      sponsorId,
      signal: session.signal,
      isHandedOn: () => isHandedOn(session.signal.reason),
    });
  } catch (error) {
    // Our own database was away: whether the call was admitted is not known. The next claim asks, this one is given up.
    if (!(error instanceof Fault) || error.type === "service_unavailable") throw error;
    return { kind: "failed", fault: error, usage: undefined, price: 0, isOurs: false };
  }
}

function failureOf(fault: Fault, isSponsored: boolean): Error {
  // One of our own engines is away: not the run's fault, so it is tried again.
  if (fault.type === "service_unavailable") return fault;
  if (fault.type === "insufficient_funds") {
    return new RunFailed(
      "insufficient_funds",
      isSponsored
        ? "The agent's creator does not have enough credit for its private model. You were not charged."
        : "The balance, or what the API key may spend in a month, does not cover another model call",
      fault,
    );
  }
  if (fault.type === "unauthorized") return keyIsGone(fault);
  return new RunFailed("internal", `The model failed: ${fault.message}`, fault);
}

export function usedOf({ usage, price }: { usage: TokenUsage | undefined; price: number }): UsedByCall {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cached_tokens: usage?.cachedTokens ?? 0,
    cache_write_tokens: usage?.cacheWriteTokens ?? 0,
    cost_micros: price,
  };
}

function ignoreLost(error: unknown): void {
  if (!(error instanceof RunStopped)) throw error;
}
