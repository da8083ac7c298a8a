import { type ChatCall, imagesIn } from "../../../engines/models/chat.ts";
import { type Caller, keyReaches } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import { tokensOfImage } from "../../predictions/index.ts";
import type { ModelMessage, RunHistory } from "../run.ts";
import type { SummaryRange } from "../run-writer.ts";
import { currentModel, type ModelDeps, sponsorOf } from "./access.ts";
import { type CalledModel, callModel, type ModelCallDeps } from "./call-model.ts";
import { affordableCall } from "./max-cost.rules.ts";
import type { RunSession } from "./session.ts";
import type { ShownStep } from "./shown-step.rules.ts";
import { keyRevoked, maxCostReached, RunFailed } from "./stopped.ts";

export type MadeCall = CalledModel &
  Pick<PlannedCall, "isShort" | "setAside"> & {
    /** Length limit of the answer in tokens, if it was cut off. */
    limit: number;
  };

interface ModelRequest {
  callId: string;
  summingUp: SummaryRange | undefined;
  shown: ShownStep | undefined;
  caller: Caller | undefined;
  /** See `isAgentListed`. */
  isListed: boolean;
  chat: Omit<ChatCall, "signal">;
  inputTokens: number;
}

export async function askModel(
  deps: ModelCallDeps & ModelDeps,
  session: RunSession,
  history: RunHistory,
  { callId, summingUp, shown, caller, isListed, chat, inputTokens }: ModelRequest,
): Promise<MadeCall> {
  if (!caller) throw keyRevoked();
  const mayCall = ({ endpointId }: Model) => isListed || keyReaches(caller, endpointId);
  let planned = await planCall(deps, session, history, { chat, inputTokens, mayCall });
  const called = await callModel(deps, session, {
    callId,
    summingUp,
    shown,
    caller,
    plan: async () => {
      planned = await planCall(deps, session, history, { chat, inputTokens, mayCall }, planned);
      return planned;
    },
    inputTokens,
  });
  const length = called.used.output_tokens;
  const { maxTokens } = planned.chat;
  const isLess = maxTokens === undefined || (length > 0 && length < maxTokens);
  // Without a limit, or with a lower one of the model, the length of the answer shows the limit.
  const limit = isLess ? length : (maxTokens ?? length);
  return { ...called, isShort: planned.isShort && !isLess, setAside: planned.setAside, limit };
}

/** Tool calls are dropped if the model was asked not to call tools. */
export function messageOf({ answer, limit }: MadeCall, mayCall: boolean): ModelMessage {
  const isCut = answer.stop === "length";
  const toolCalls = mayCall ? answer.toolCalls : [];
  // Incomplete reasoning has no signature and would be refused. It is needed only beside tool calls.
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
  /** The cost limit shortens the answer. */
  isShort: boolean;
  setAside: number;
}

/** Plans the call with the current model. Reuses `before` unless the model has changed since. */
export async function planCall(
  deps: ModelDeps,
  session: RunSession,
  history: RunHistory,
  { chat, inputTokens, mayCall }: { chat: Chat; inputTokens: number; mayCall(model: Model): boolean },
  before?: PlannedCall,
): Promise<PlannedCall> {
  for (let planned = before; ; ) {
    const model = await currentModel(deps, history);
    // An alias may lead to another model since the run was created.
    if (!mayCall(model)) throw new RunFailed("internal", "The API key does not have access to the agent's model");
    if (planned?.model.id === model.id && planned.model.version === model.version) return planned;
    if (planned && planned.setAside > 0) await session.write({ holdMore: -planned.setAside });
    planned = await setAside(session, model, chat, inputTokens);
  }
}

/** Places the hold before the call, so that parallel calls do not exceed the limit together. */
async function setAside(session: RunSession, model: Model, chat: Chat, inputTokens: number): Promise<PlannedCall> {
  for (;;) {
    // A sponsored call does not count against the limit.
    const budget = sponsorOf(model, session.run) === undefined ? session.budget : null;
    const affordable = affordableCall(model.manifest, inputTokens, budget);
    if (affordable === undefined) throw maxCostReached();
    if (affordable === "no limit") return { model, chat, isShort: false, setAside: 0 };
    const { maxTokens, isShort, most } = affordable;
    if (!(await session.setAside(most))) continue;
    const bound = maxTokens === undefined ? {} : { maxTokens: Math.min(maxTokens, chat.maxTokens ?? maxTokens) };
    return { model, chat: { ...chat, ...bound }, isShort, setAside: most };
  }
}

const bytesPerToken = 3;

const withoutImages = (key: string, value: unknown) => (key === "base64" ? "" : value);

/**
 * Estimates the input tokens of the next call. The first call is counted; later ones add an estimate of the new text,
 * because counting everything would take longer than the rest of a step. The upstream can only lower the estimate, so it
 * cannot raise its own charge.
 */
export class TokenEstimate {
  readonly #countTokens: (text: string) => Promise<number>;
  #asked = { bytes: 0, tokens: 0 };
  #known: { bytes: number; tokens: number } | undefined;

  constructor(countTokens: (text: string) => Promise<number>) {
    this.#countTokens = countTokens;
  }

  async of({ messages, tools, responseSchema }: Omit<ChatCall, "signal">): Promise<number> {
    const images = imagesIn(messages);
    const text = JSON.stringify([messages, tools, responseSchema], images > 0 ? withoutImages : undefined);
    const bytes = Buffer.byteLength(text);
    if (this.#known === undefined) {
      this.#known = { bytes, tokens: (await this.#countTokens(text)) + images * tokensOfImage };
    }
    const added = Math.max(0, bytes - this.#known.bytes);
    this.#asked = { bytes, tokens: this.#known.tokens + Math.ceil(added / bytesPerToken) };
    return this.#asked.tokens;
  }

  /** Input tokens of the last call, as the upstream counted them. */
  learn(inputTokens: number): void {
    const { bytes, tokens } = this.#asked;
    if (inputTokens > 0) this.#known = { bytes, tokens: Math.min(inputTokens, tokens) };
  }
}
