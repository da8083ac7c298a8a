import type { Database } from "../../../engines/database/database.ts";
import type { ChatCall, ChatDriver, ChatResult } from "../../../engines/models/chat.ts";
import type { ModelDriver, OutputValue, TokenUsage } from "../../../engines/models/driver.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { Micros } from "../../../kernel/money.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import { answerLimit, termsOfChat } from "../admission/reserve.ts";
import { keptChat } from "../kept/kept-chat.rules.ts";
import { endedUnused, type StoredOutput, stopReasons } from "../prediction.ts";
import { findEndedCall, findLiveClaim } from "../store.ts";
import { isHandedOn, type RunDeps, type RunRequest, runPrediction } from "./run-prediction.ts";

export interface ChatRequest {
  /** Stored by the run before the call, so that after a crash the answer is recalled instead of paid for again. */
  predictionId: string;
  /** The run that makes the call. This node must have claimed it. */
  runId: string;
  caller: Caller;
  model: Model;
  chat: Omit<ChatCall, "signal">;
  /** Estimated tokens of messages and tools, for the reservation. */
  inputTokens: number;
  /** See `RunRequest`. */
  mustBeCovered: boolean;
  /** See `RunRequest`. */
  sponsorId: string | undefined;
  setAside: Micros | undefined;
  signal: AbortSignal;
  /** Asked when the signal is aborted: whether another node continues the run. */
  isHandedOn(): boolean;
}

/**
 * The end of a model call of a run. A call that was stopped is charged for its tokens too. The price is the caller's: 0 if
 * a sponsor paid.
 */
export type ChatEnd = {
  usage: TokenUsage | undefined;
  price: Micros;
} /** `firstTokenMs`: from the request to the first token; unknown for recalled answers. */ & (
  | { kind: "answered"; answer: ChatAnswer; firstTokenMs?: number | undefined }
  /** `isOurs`: this node shuts down or was considered dead, and the next node repeats the call. */
  | { kind: "failed"; fault: Fault; isOurs: boolean }
);

/** The part of an answer that is stored. */
export type ChatAnswer = Omit<ChatResult, "usage">;

/** Calls a text model for a run: admitted, charged and counted like any prediction. */
export async function chatWithModel(deps: RunDeps, request: ChatRequest): Promise<ChatEnd> {
  const { chat, signal, caller, model, predictionId, runId, mustBeCovered, sponsorId, inputTokens } = request;
  const asked = answerLimit(model.manifest, chat.maxTokens);
  const terms = termsOfChat(model.manifest, { inputTokens, maxTokens: asked });
  const input: RunRequest["input"]["input"] = asked === undefined ? {} : { max_tokens: asked };
  let isOurs = () => false;
  let stop = () => {};
  const requestedAt = performance.now();
  let firstTokenMs: number | undefined;
  const { outcome } = await runPrediction(deps, {
    predictionId,
    runId,
    mustBeCovered,
    sponsorId,
    caller,
    model,
    route: "agent",
    input: { input, user: undefined },
    terms,
    inputTokens,
    setAside: request.setAside,
    toKeep: () => keptChat(chat),
    onLive: (live) => {
      isOurs = () => isHandedOn(live);
      stop = () => live.stop(request.isHandedOn() ? "lost" : "cancelled");
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop);
    },
    perform: async (driver: ModelDriver & Partial<ChatDriver>, call) => {
      const { max_tokens: maxTokens } = call.input;
      if (!driver.chat) throw fault("downstream_service_error", "The model does not support conversations with tools");
      const { usage, ...answer } = await driver.chat({
        ...chat,
        repeats: true,
        ...(typeof maxTokens === "number" && { maxTokens }),
        signal: call.signal,
        onBegun() {
          firstTokenMs = Math.round(performance.now() - requestedAt);
          call.onBegun?.();
        },
      });
      return { output: { answer: answer as unknown as OutputValue }, usage, stop: answer.stop };
    },
  }).finally(() => signal.removeEventListener("abort", stop));
  const { usage } = outcome;
  const price = sponsorId === undefined ? outcome.price : 0;
  if (outcome.kind === "failed") return { kind: "failed", fault: outcome.fault, usage, price, isOurs: isOurs() };
  return { kind: "answered", answer: outcome.output.answer as unknown as ChatAnswer, usage, price, firstTokenMs };
}

/** The end of a call that another node may have made. */
export type RecalledCall = { usage: TokenUsage; price: Micros } & (
  | { kind: "done"; output: StoredOutput }
  | { kind: "failed"; fault: Fault }
);

type RecallDeps = Pick<RunDeps, "settlement"> & { database: Database };

/**
 * Finds the end of a call whose run was taken over from a dead node. A call that is still live is ended without a charge:
 * a node that turns out to be alive can no longer settle it. Undefined if the call was never admitted.
 */
export async function recallCall(
  { database, settlement }: RecallDeps,
  predictionId: string,
): Promise<RecalledCall | undefined> {
  const claim = await findLiveClaim(database.sql, predictionId);
  if (claim !== undefined) await settlement.settle(predictionId, claim, endedUnused(stopReasons.lost()));
  const ended = await findEndedCall(database.sql, predictionId);
  if (!ended) return undefined;
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, price } = ended;
  const usage = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens };
  if (ended.status === 200) return { kind: "done", output: ended.output ?? {}, usage, price };
  const [first = stopReasons.lost().issues[0], ...more] = ended.error ?? [];
  return { kind: "failed", fault: new Fault([first, ...more]), usage, price };
}

export async function recallChat(deps: RecallDeps, predictionId: string): Promise<ChatEnd | undefined> {
  const call = await recallCall(deps, predictionId);
  if (call?.kind !== "done") return call && { ...call, isOurs: false };
  const { output, usage, price } = call;
  return { kind: "answered", answer: output.answer as unknown as ChatAnswer, usage, price };
}
