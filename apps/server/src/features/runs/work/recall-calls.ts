import type { ChatEnd, Predictions } from "../../predictions/index.ts";
import { usageOf } from "../call-usage.ts";
import type { OpenCall } from "../store.ts";
import { findAttempts } from "../tools/run-model.ts";
import type { ToolOutcome } from "../tools/run-tool.ts";
import type { RunSession } from "./session.ts";
import { idOf } from "./tool-calls.ts";

export interface RecallDeps {
  predictions: Pick<Predictions, "recallChat" | "recallCall">;
}

/** Outcomes of calls that an earlier node made but did not store. */
export interface Recalled {
  chat: ChatEnd | undefined;
  outcomes: ReadonlyMap<string, ToolOutcome>;
}

/**
 * Finds charged calls of an earlier node. Their answers may complete the run, even if the key was revoked. With
 * `onlyCharges`, outcomes are left out: together they may be larger than the history of a run.
 */
export async function recallCalls(
  deps: RecallDeps,
  { run, unwritten }: Pick<RunSession, "run" | "unwritten">,
  open: readonly OpenCall[],
  { onlyCharges }: { onlyCharges: boolean },
): Promise<Recalled> {
  const outcomes = new Map<string, ToolOutcome>();
  if (run.claim === 1) return { chat: undefined, outcomes };
  for (const call of open) {
    if (call.kind !== "read" || call.status !== "started") continue;
    const id = idOf(run, call);
    const { made, used } = await findAttempts(deps, run.id, id);
    unwritten.set(id, used);
    if (made && !onlyCharges) outcomes.set(id, made);
  }
  // The model is not called while tool calls are open.
  if (open.length > 0 || run.callId === null) return { chat: undefined, outcomes };
  const chat = await deps.predictions.recallChat(run.callId);
  if (chat) unwritten.set(run.callId, usageOf(chat));
  return { chat, outcomes };
}

/** Whether the recalled outcomes alone advance the run. */
export function isAnswered({ chat, outcomes }: Recalled): boolean {
  return chat?.kind === "answered" || outcomes.size > 0;
}
