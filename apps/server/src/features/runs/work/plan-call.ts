import type { ChatCall } from "../../../engines/models/chat.ts";
import type { Model } from "../../models/index.ts";
import { sponsorOf } from "../model-access.rules.ts";
import type { RunHistory } from "../run.ts";
import { affordableCall } from "./max-cost.rules.ts";
import { type ModelDeps, presentModel } from "./present-model.ts";
import type { RunSession } from "./session.ts";
import { costsTooMuch } from "./stopped.ts";

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
