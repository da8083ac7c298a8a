import type { Templates } from "../../../engines/templates/templates.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import type { RunHistory } from "../run.ts";
import { openToolbox, type Toolbox, type ToolboxDeps } from "../tools/toolbox.ts";
import { type CallerDeps, type ModelDeps, presentModel, requireCaller } from "./access.ts";
import type { Transcript } from "./conversation.rules.ts";
import { systemPrompt } from "./prompts.rules.ts";
import { isAnswered, type Recalled } from "./recall-calls.ts";
import type { RunSession } from "./session.ts";

export interface ContextDeps extends ToolboxDeps, ModelDeps, CallerDeps {
  templates: Pick<Templates, "render">;
}

/** What every claim of a run needs: who pays, which tools, what is wanted. */
export interface RunContext {
  /** Undefined where the key is gone, and something that was asked before it went is still to be heard. */
  caller: Caller | undefined;
  toolbox: Toolbox;
  told: Pick<Transcript, "system" | "goal">;
}

/** Opens what the run works with, and lets it speak its first event. */
export async function openContext(
  deps: ContextDeps,
  session: RunSession,
  history: RunHistory,
  recalled: Recalled,
): Promise<RunContext> {
  const { run, snapshot } = history;
  // What was answered is heard first, whoever and whatever is gone meanwhile. That run has had its opening, too.
  const isHeard = isAnswered(recalled);
  const caller = isHeard ? await deps.accounts.callerOfKey(run.keyId) : await requireCaller(deps, run);
  const model = isHeard ? undefined : await presentModel(deps, history);
  const { userId, ownerId, connectors, baseUrl } = run;
  const scope = { runId: run.id, userId, caller, ownerId, snapshot, connectors, baseUrl };
  const toolbox = await openToolbox(deps, scope, session.signal);
  const told = {
    system: systemPrompt(snapshot, toolbox.missing),
    goal: deps.templates.render(snapshot.goal, run.input),
  };
  await announce(session, history, model ? openingNotes(model, toolbox) : []);
  return { caller, toolbox, told };
}

/** The first event of a fresh run. On a later claim, only to hear whether it was cancelled and what it may still cost. */
async function announce(session: RunSession, { run, snapshot }: RunHistory, opening: readonly string[]): Promise<void> {
  if (run.lastEvent > 0) {
    await session.write({});
    return;
  }
  const plans = Boolean(snapshot.instructions.planning);
  const notes = [...opening];
  // With an instruction for it the plan itself is the event; the platform then speaks only where it must.
  if (!plans) notes.push(`Working on the goal with ${snapshot.model}.`);
  const events = notes.length > 0 ? [{ type: "planning", data: { message: notes.join(" ") } }] : [];
  await session.write({ phase: plans ? "planning" : "working", events });
}

/** What the first event says that is no plan. */
function openingNotes({ endpointId, manifest }: Model, { missing }: Toolbox): string[] {
  const notes: string[] = [];
  if (endpointId === "anthropic/default" && manifest.backend.type === "builtin") {
    notes.push(
      "anthropic/default is answered by the rule-based planner gantry/rules here, which is no language model: the operator has set neither ANTHROPIC_API_KEY nor GANTRY_LLM_URL.",
    );
  }
  for (const one of missing) notes.push(`Not available: ${one}.`);
  return notes;
}
