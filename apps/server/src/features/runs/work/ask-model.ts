import type { ChatCall } from "../../../engines/models/chat.ts";
import type { Caller } from "../../accounts/index.ts";
import type { RunHistory, SaidMessage } from "../run.ts";
import type { SummingUp } from "../run-change.ts";
import { type CalledModel, callModel, type ModelCallDeps } from "./call-model.ts";
import { type PlannedCall, planCall } from "./plan-call.ts";
import type { ModelDeps } from "./present-model.ts";
import type { RunSession } from "./session.ts";
import { keyIsGone } from "./stopped.ts";

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
