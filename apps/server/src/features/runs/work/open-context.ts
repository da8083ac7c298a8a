import { backendsOf } from "@gantry/wire";
import type { Database } from "../../../engines/database/database.ts";
import type { Templates } from "../../../engines/templates/templates.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import type { RunHistory } from "../run.ts";
import { openToolbox, type Toolbox, type ToolboxDeps } from "../tools/toolbox.ts";
import { type CallerDeps, currentModel, isAgentListed, type ModelDeps, requireCaller } from "./access.ts";
import type { Conversation } from "./conversation.rules.ts";
import { goalWithNotes, systemPrompt } from "./prompts.rules.ts";
import { isAnswered, type Recalled } from "./recall-calls.ts";
import type { RunSession } from "./session.ts";
import { type NotesDeps, startingNotes } from "./starting-notes.ts";

export interface ContextDeps extends ToolboxDeps, ModelDeps, CallerDeps, NotesDeps {
  database: Pick<Database, "sql">;
  templates: Pick<Templates, "render">;
}

export interface RunContext {
  /** Undefined if the key was revoked, but the answer of an earlier call must still be stored. */
  caller: Caller | undefined;
  /** See `isAgentListed`. */
  isListed: boolean;
  toolbox: Toolbox;
  prompts: Pick<Conversation, "system" | "goal">;
}

export async function openContext(
  deps: ContextDeps,
  session: RunSession,
  history: RunHistory,
  recalled: Recalled,
): Promise<RunContext> {
  const { run, snapshot } = history;
  // A recalled answer is stored even if key or model are gone. Such a run has its first event already.
  const hasAnswer = isAnswered(recalled);
  const caller = hasAnswer ? await deps.accounts.callerOfKey(run.keyId) : await requireCaller(deps, run);
  const model = hasAnswer ? undefined : await currentModel(deps, history);
  const isListed = caller !== undefined && (await isAgentListed(deps, caller, run));
  const { userId, ownerId, connectors, baseUrl } = run;
  const scope = { runId: run.id, userId, caller, isListed, ownerId, snapshot, connectors, baseUrl };
  const toolbox = await openToolbox(deps, scope, session.signal);
  const prompts = {
    system: systemPrompt(snapshot, { missing: toolbox.missing, isThread: run.threadId !== null }),
    goal: goalWithNotes(deps.templates.render(snapshot.goal, run.input), await startingNotes(deps, scope)),
  };
  await announce(session, history, model, toolbox);
  return { caller, isListed, toolbox, prompts };
}

/** Writes the first event of a new run. On a later claim, the write only returns cancellation and budget. */
async function announce(
  session: RunSession,
  { run, snapshot }: RunHistory,
  model: Model | undefined,
  toolbox: Toolbox,
): Promise<void> {
  if (run.lastEvent > 0) {
    await session.write({});
    return;
  }
  const plans = Boolean(snapshot.instructions.planning);
  const notes = model ? openingNotes(model, toolbox) : [];
  // With a planning instruction, the plan itself is the event.
  if (!plans) notes.push(`Working on the goal with ${model?.endpointId ?? snapshot.model}.`);
  const events = notes.length > 0 ? [{ type: "planning", data: { message: notes.join(" ") } }] : [];
  await session.write({ phase: plans ? "planning" : "working", events });
}

function openingNotes({ endpointId, manifest }: Model, { missing, authorizations }: Toolbox): string[] {
  const notes: string[] = [];
  const [{ url, model }] = backendsOf(manifest);
  if (endpointId === "anthropic/default" && backendsOf(manifest).every(({ type }) => type === "builtin")) {
    notes.push(
      "anthropic/default uses the rule-based planner gantry/rules here, which is not a language model: neither ANTHROPIC_API_KEY nor GANTRY_LLM_URL is set, and no language model was found on the server's machine.",
    );
  } else if (endpointId === "anthropic/default" && url !== undefined && isOnOwnMachine(url)) {
    notes.push(`anthropic/default uses ${model} on the server's machine.`);
  }
  for (const tool of missing) notes.push(`Not available: ${tool}.`);
  // Without a full stop, which would become part of a link.
  for (const request of authorizations) notes.push(request);
  return notes;
}

function isOnOwnMachine(url: string): boolean {
  return /^https?:\/\/(?:127\.|localhost[:/]|\[::1\])/.test(url);
}
