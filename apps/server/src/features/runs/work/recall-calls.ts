import type { ChatEnd, Predictions } from "../../predictions/index.ts";
import type { StoredCall } from "../run.ts";
import { findTries } from "../tools/run-model.ts";
import type { ToolOutcome } from "../tools/run-tool.ts";
import { usedOf } from "./call-model.ts";
import type { RunSession } from "./session.ts";
import { idOf } from "./tool-calls.ts";

export interface RecallDeps {
  predictions: Pick<Predictions, "recallChat" | "recallCall">;
}

/** What came of calls that a worker before this one made and did not live to write. */
export interface Recalled {
  /** How the last call of the run's model ended; undefined where there was none. */
  chat: ChatEnd | undefined;
  /** Of tools, by the id of the call. */
  outcomes: ReadonlyMap<string, ToolOutcome>;
}

/**
 * Asked before anything else about a run that another worker had: what was paid stands in the run from then on, and may
 * end it well, even where nothing more can be called for it.
 */
export async function recallCalls(
  deps: RecallDeps,
  { run, unwritten }: Pick<RunSession, "run" | "unwritten">,
  calls: readonly StoredCall[],
): Promise<Recalled> {
  const outcomes = new Map<string, ToolOutcome>();
  if (run.claim === 1) return { chat: undefined, outcomes };
  const open = calls.filter((call) => call.status !== "ended");
  for (const call of open) {
    if (call.kind !== "read" || call.status !== "started") continue;
    const id = idOf(run, call);
    const { made, used } = await findTries(deps, run.id, id);
    unwritten.set(id, used);
    if (made) outcomes.set(id, made);
  }
  // While calls are open the model is not asked.
  if (open.length > 0 || run.callId === null) return { chat: undefined, outcomes };
  const chat = await deps.predictions.recallChat(run.callId);
  if (chat) unwritten.set(run.callId, usedOf(chat));
  return { chat, outcomes };
}

/** Whether the run gets any further by what was recalled alone. */
export function isAnswered({ chat, outcomes }: Recalled): boolean {
  return chat?.kind === "answered" || outcomes.size > 0;
}
