import type { Database } from "../../engines/database/database.ts";
import type { ChatCall, ChatDriver, ChatResult } from "../../engines/models/chat.ts";
import type { ModelDriver, OutputValue, TokenUsage } from "../../engines/models/driver.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import type { Micros } from "../../kernel/money.ts";
import type { Caller } from "../accounts/index.ts";
import type { Model } from "../models/index.ts";
import { stopReasons } from "./held-predictions.ts";
import { endedUnused } from "./prediction.ts";
import { type RunDeps, runPrediction } from "./run-prediction.ts";
import { findEndedCall, findLiveClaim } from "./store.ts";

export interface ChatRequest {
  /** Written down by the run before, so that after a crash the answer can be recalled instead of paid for again. */
  predictionId: string;
  caller: Caller;
  model: Model;
  chat: Omit<ChatCall, "signal">;
  signal: AbortSignal;
}

/** What a call of an agent came to. Used and price stand in both cases: a call that was stopped pays for its tokens. */
export type ChatEnd = { usage: TokenUsage | undefined; price: Micros } & (
  | { kind: "answered"; answer: ChatAnswer }
  | { kind: "failed"; fault: Fault }
);

/** The part of an answer that is kept. */
export type ChatAnswer = Omit<ChatResult, "usage">;

/** One call of a text model for an agent's run: admitted, charged and counted like any prediction. */
export async function chatWithModel(deps: RunDeps, request: ChatRequest): Promise<ChatEnd> {
  const { chat, signal, caller, model, predictionId } = request;
  const { maxTokens } = chat;
  const { outcome } = await runPrediction(deps, {
    predictionId,
    caller,
    model,
    route: "agent",
    // What is reserved is counted from this; the driver gets the messages themselves.
    input: {
      input: { prompt: textOf(chat), ...(maxTokens !== undefined && { max_tokens: maxTokens }) },
      user: undefined,
    },
    onHeld: (held) => {
      if (signal.aborted) held.stop("cancelled");
      else signal.addEventListener("abort", () => held.stop("cancelled"), { once: true });
    },
    perform: async (driver: ModelDriver & Partial<ChatDriver>, call) => {
      if (!driver.chat) throw fault("downstream_service_error", "The model cannot hold a conversation with tools");
      const { usage, ...answer } = await driver.chat({ ...chat, signal: call.signal });
      return { output: { answer: answer as unknown as OutputValue }, usage };
    },
  });
  const { usage, price } = outcome;
  if (outcome.kind === "failed") return { kind: "failed", fault: outcome.fault, usage, price };
  return { kind: "answered", answer: outcome.output.answer as unknown as ChatAnswer, usage, price };
}

/**
 * What became of a call whose run was taken over from a dead node. One that is still believed to run is ended, unpaid: its
 * node is gone, and if it is not, what it says no longer counts. Undefined: it never began, or ended unpaid.
 */
export async function recallChat(
  { database, settlement }: Pick<RunDeps, "settlement"> & { database: Database },
  predictionId: string,
): Promise<ChatEnd | undefined> {
  const claim = await findLiveClaim(database.sql, predictionId);
  if (claim !== undefined) await settlement.settle(predictionId, claim, endedUnused(stopReasons.lost()));
  const ended = await findEndedCall(database.sql, predictionId);
  if (!ended || (ended.status === 499 && ended.price === 0)) return undefined;
  const { inputTokens, outputTokens, cachedTokens, price } = ended;
  const usage = { inputTokens, outputTokens, cachedTokens };
  if (ended.status !== 200) {
    const [first = stopReasons.lost().issues[0], ...more] = ended.error ?? [];
    return { kind: "failed", fault: new Fault([first, ...more]), usage, price };
  }
  return { kind: "answered", answer: ended.output?.answer as unknown as ChatAnswer, usage, price };
}

function textOf({ messages, tools, responseSchema }: Omit<ChatCall, "signal">): string {
  return JSON.stringify([messages, tools, responseSchema]);
}
