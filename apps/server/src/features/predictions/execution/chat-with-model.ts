import type { Database } from "../../../engines/database/database.ts";
import type { ChatCall, ChatDriver, ChatResult } from "../../../engines/models/chat.ts";
import type { ModelDriver, OutputValue, TokenUsage } from "../../../engines/models/driver.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { Micros } from "../../../kernel/money.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import { answerLimit, termsOfChat, withinTerms } from "../admission/reserve.ts";
import { endedUnused, type StoredOutput } from "../prediction.ts";
import { stopReasons } from "./held-predictions.ts";
import { isHandedOn, type RunDeps, runPrediction } from "./run-prediction.ts";
import { findEndedCall, findLiveClaim } from "./slot-grants.ts";

export interface ChatRequest {
  /** Written down by the run before, so that after a crash the answer can be recalled instead of paid for again. */
  predictionId: string;
  /** The run that it is for, which this node must hold. */
  runId: string;
  caller: Caller;
  model: Model;
  chat: Omit<ChatCall, "signal">;
  /** About how many the messages and tools are: what is reserved for them. */
  inputTokens: number;
  /** See `RunRequest`. */
  mustBeCovered: boolean;
  /** See `RunRequest`. */
  sponsorId: string | undefined;
  setAside: Micros | undefined;
  signal: AbortSignal;
  /** Asked when the signal is aborted: whether the run goes on elsewhere, because this node goes down or lost it. */
  isHandedOn(): boolean;
}

/**
 * What a call of an agent came to. Used and price stand in both cases: a call that was stopped pays for its tokens. The
 * price is the caller's: 0 where a sponsor paid.
 */
export type ChatEnd = { usage: TokenUsage | undefined; price: Micros } & (
  | { kind: "answered"; answer: ChatAnswer }
  /** `isOurs`: because this node goes down, or was taken for dead; whoever has the run then makes the call again. */
  | { kind: "failed"; fault: Fault; isOurs: boolean }
);

/** The part of an answer that is kept. */
export type ChatAnswer = Omit<ChatResult, "usage">;

/** One call of a text model for an agent's run: admitted, charged and counted like any prediction. */
export async function chatWithModel(deps: RunDeps, request: ChatRequest): Promise<ChatEnd> {
  const { chat, signal, caller, model, predictionId, runId, mustBeCovered, sponsorId, inputTokens } = request;
  const asked = answerLimit(model.manifest, chat.maxTokens);
  const terms = termsOfChat(model.manifest, { inputTokens, maxTokens: asked });
  const input = withinTerms(terms, model.manifest, asked === undefined ? {} : { max_tokens: asked });
  const maxTokens = typeof input.max_tokens === "number" ? input.max_tokens : undefined;
  let isOurs = () => false;
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
    onHeld: (held) => {
      isOurs = () => isHandedOn(held);
      const stop = () => held.stop(request.isHandedOn() ? "lost" : "cancelled");
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    },
    perform: async (driver: ModelDriver & Partial<ChatDriver>, call) => {
      if (!driver.chat) throw fault("downstream_service_error", "The model cannot hold a conversation with tools");
      const { usage, ...answer } = await driver.chat({
        ...chat,
        ...(maxTokens !== undefined && { maxTokens }),
        signal: call.signal,
      });
      return { output: { answer: answer as unknown as OutputValue }, usage };
    },
  });
  const { usage } = outcome;
  const price = sponsorId === undefined ? outcome.price : 0;
  if (outcome.kind === "failed") return { kind: "failed", fault: outcome.fault, usage, price, isOurs: isOurs() };
  return { kind: "answered", answer: outcome.output.answer as unknown as ChatAnswer, usage, price };
}

/** What became of a call of a run that another node may have made. */
export type RecalledCall = { usage: TokenUsage; price: Micros } & (
  | { kind: "done"; output: StoredOutput }
  | { kind: "failed"; fault: Fault }
);

type RecallDeps = Pick<RunDeps, "settlement"> & { database: Database };

/**
 * What became of a call whose run was taken over from a dead node. One that is still believed to run is ended, unpaid: its
 * node is gone, and if it is not, what it says no longer counts. Undefined: it never began, and never will.
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
