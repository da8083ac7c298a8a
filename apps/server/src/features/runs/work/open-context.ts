import type { Templates } from "../../../engines/templates/templates.ts";
import type { Accounts, Caller } from "../../accounts/index.ts";
import { holdsConversations } from "../../agents/index.ts";
import type { Model, Models } from "../../models/index.ts";
import type { Run, RunHistory } from "../run.ts";
import { openToolbox, type Toolbox, type ToolboxDeps } from "../tools/toolbox.ts";
import type { Told } from "./conversation.rules.ts";
import { systemPrompt } from "./prompts.rules.ts";
import type { RunSession } from "./session.ts";
import { RunFailed } from "./stopped.ts";

export interface ContextDeps extends ToolboxDeps {
  templates: Pick<Templates, "render">;
  models: Pick<Models, "getModel">;
  accounts: Pick<Accounts, "callerOfKey">;
}

/** What every claim of a run needs: who pays, which model, which tools, what is wanted. */
export interface RunContext {
  caller: Caller;
  model: Model;
  toolbox: Toolbox;
  told: Pick<Told, "system" | "goal">;
}

/** Opens what the run works with, and lets it speak its first event. */
export async function openContext(deps: ContextDeps, session: RunSession, history: RunHistory): Promise<RunContext> {
  const { run, snapshot } = history;
  const caller = await deps.accounts.callerOfKey(run.keyId);
  const model = await deps.models.getModel(snapshot.model);
  if (!caller || !model || (model.manifest.visibility === "private" && model.ownerId !== run.ownerId)) {
    throw new RunFailed("internal", `The agent's model ${snapshot.model} can no longer be called`);
  }
  if (!holdsConversations(model.manifest)) {
    const { type } = model.manifest.backend;
    const why = `cannot hold a conversation with tools any more: its backend is ${type}`;
    throw new RunFailed("internal", `The agent's model ${snapshot.model} ${why}`);
  }
  const { ownerId, connectors, baseUrl } = run;
  const scope = { runId: run.id, caller, ownerId, snapshot, connectors, baseUrl };
  const toolbox = await openToolbox(deps, scope, session.signal);
  const told = {
    system: systemPrompt(snapshot, toolbox.missing),
    goal: deps.templates.render(snapshot.goal, run.input),
  };
  const context = { caller, model, toolbox, told };
  await announce(session, history, context);
  return context;
}

/** The first event of a fresh run. On a later claim, only to hear whether it was cancelled and what it may still cost. */
async function announce(session: RunSession, { run, snapshot }: RunHistory, context: RunContext): Promise<void> {
  if (run.lastEvent > 0) {
    await session.write({});
    return;
  }
  const plans = Boolean(snapshot.instructions.planning);
  const notes = openingNotes(run, context);
  // With an instruction for it the plan itself is the event; the platform then speaks only where it must.
  if (!plans) notes.push(`Working on the goal with ${snapshot.model}.`);
  const events = notes.length > 0 ? [{ type: "planning", data: { message: notes.join(" ") } }] : [];
  await session.write({ phase: plans ? "planning" : "working", events });
}

/** What the first event says that is no plan. */
function openingNotes({ userId, ownerId }: Run, { model: { endpointId, manifest }, toolbox }: RunContext): string[] {
  const notes: string[] = [];
  if (endpointId === "anthropic/default" && manifest.backend.type === "builtin") {
    notes.push(
      "anthropic/default is answered by the rule-based planner gantry/rules here, which is no language model: the operator has set neither ANTHROPIC_API_KEY nor GANTRY_LLM_URL.",
    );
  }
  const { missing } = toolbox;
  if (userId === ownerId) for (const one of missing) notes.push(`Not available: ${one}.`);
  // Which servers an agent uses, and what they answer, is its creator's alone.
  else if (missing.length > 0) notes.push(`Not available: ${missing.length} of what the agent is to have.`);
  return notes;
}
