import type { ChatCall } from "../../../engines/models/chat.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import type { RunHistory, SaidMessage } from "../run.ts";
import type { SummingUp } from "../run-writer.ts";
import { type ModelDeps, presentModel, sponsorOf } from "./access.ts";
import { type CalledModel, callModel, type ModelCallDeps } from "./call-model.ts";
import { affordableCall } from "./max-cost.rules.ts";
import type { RunSession } from "./session.ts";
import { costsTooMuch, keyIsGone } from "./stopped.ts";

export type MadeCall = CalledModel &
  Pick<PlannedCall, "isShort" | "setAside"> & {
    /** Of the answer, in tokens, if it was cut. */
    limit: number;
  };

interface Question {
  /** The id that the run has for its next call. */
  callId: string;
  /** Where the question is for a summary. */
  summingUp: SummingUp | undefined;
  caller: Caller | undefined;
  chat: Omit<ChatCall, "signal">;
  inputTokens: number;
}

/** Asks the run's model, within what the run may cost. The run ends where there is nobody left to ask for. */
export async function askModel(
  deps: ModelCallDeps & ModelDeps,
  session: RunSession,
  history: RunHistory,
  { callId, summingUp, caller, chat, inputTokens }: Question,
): Promise<MadeCall> {
  if (!caller) throw keyIsGone();
  let planned = await planCall(deps, session, history, { chat, inputTokens });
  const called = await callModel(deps, session, {
    callId,
    summingUp,
    caller,
    plan: async () => {
      planned = await planCall(deps, session, history, { chat, inputTokens }, planned);
      return planned;
    },
    inputTokens,
  });
  const made = called.used.output_tokens;
  const { maxTokens } = planned.chat;
  const isLess = maxTokens === undefined || (made > 0 && made < maxTokens);
  // Where none was asked for, or the model's own is lower, the limit shows in how far an answer came that was cut.
  const limit = isLess ? made : (maxTokens ?? made);
  return { ...called, isShort: planned.isShort && !isLess, setAside: planned.setAside, limit };
}

/** A model that calls tools although it was told not to is not answered: it has had its turn. */
export function saidIn({ answer, limit }: MadeCall, mayCall: boolean): SaidMessage {
  const isCut = answer.stop === "length";
  const toolCalls = mayCall ? answer.toolCalls : [];
  // Thoughts that broke off are not signed, and would be refused. Only beside calls are they wanted again.
  const hasOpaque = mayCall && answer.opaque !== undefined && (!isCut || toolCalls.length > 0);
  return {
    text: answer.text,
    toolCalls,
    ...(hasOpaque && { opaque: answer.opaque }),
    ...(isCut && { cutAtTokens: limit }),
  };
}

type Chat = Omit<ChatCall, "signal">;

export interface PlannedCall {
  model: Model;
  chat: Chat;
  /** Its answer may be as short as it may only because no more can be paid. */
  isShort: boolean;
  setAside: number;
}

/**
 * The call as it may be made at this moment, of the model as it is now. `before` is what was planned a while ago: it
 * stands unless the model has changed, which it may have done while something was waited for.
 */
export async function planCall(
  deps: ModelDeps,
  session: RunSession,
  history: RunHistory,
  { chat, inputTokens }: { chat: Chat; inputTokens: number },
  before?: PlannedCall,
): Promise<PlannedCall> {
  for (let planned = before; ; ) {
    const model = await presentModel(deps, history);
    if (planned?.model.id === model.id && planned.model.version === model.version) return planned;
    if (planned && planned.setAside > 0) await session.write({ holdMore: -planned.setAside });
    planned = await setAside(session, model, chat, inputTokens);
  }
}

/** What the call may cost is set aside before it is made, so that calls side by side do not exceed a limit together. */
async function setAside(session: RunSession, model: Model, chat: Chat, inputTokens: number): Promise<PlannedCall> {
  for (;;) {
    // What a sponsor pays is no part of what the run may cost.
    const room = sponsorOf(model, session.run) === undefined ? session.room : null;
    const affordable = affordableCall(model.manifest, inputTokens, room);
    if (affordable === undefined) throw costsTooMuch();
    if (affordable === "no limit") return { model, chat, isShort: false, setAside: 0 };
    const { maxTokens, isShort, most } = affordable;
    if (!(await session.setAside(most))) continue;
    const bound = maxTokens === undefined ? {} : { maxTokens: Math.min(maxTokens, chat.maxTokens ?? maxTokens) };
    return { model, chat: { ...chat, ...bound }, isShort, setAside: most };
  }
}

const bytesPerToken = 3;

/**
 * About how many tokens the next call of a run has. The first is counted; from then on only what was added since is
 * estimated, because counting the whole conversation before every call would cost more than the rest of a step. The
 * upstream may correct the estimate downwards only: the reservation follows from it, and an upstream that could raise
 * it would raise its own bill with every call.
 */
export class TokenEstimate {
  readonly #countTokens: (text: string) => Promise<number>;
  #asked = { bytes: 0, tokens: 0 };
  #known: { bytes: number; tokens: number } | undefined;

  constructor(countTokens: (text: string) => Promise<number>) {
    this.#countTokens = countTokens;
  }

  async of({ messages, tools, responseSchema }: Omit<ChatCall, "signal">): Promise<number> {
    const text = JSON.stringify([messages, tools, responseSchema]);
    const bytes = Buffer.byteLength(text);
    if (this.#known === undefined) this.#known = { bytes, tokens: await this.#countTokens(text) };
    const added = Math.max(0, bytes - this.#known.bytes);
    this.#asked = { bytes, tokens: this.#known.tokens + Math.ceil(added / bytesPerToken) };
    return this.#asked.tokens;
  }

  /** What the upstream counted for the call that was asked about last. */
  learn(inputTokens: number): void {
    const { bytes, tokens } = this.#asked;
    if (inputTokens > 0) this.#known = { bytes, tokens: Math.min(inputTokens, tokens) };
  }
}
