import { type AgentSnapshot, readAgentName } from "@gantry/wire";
import type { Database } from "../../../engines/database/database.ts";
import type { Accounts, Caller } from "../../accounts/index.ts";
import { holdsConversations, type Model, type Models, namedBackends } from "../../models/index.ts";
import type { Run, RunHistory } from "../run.ts";
import { isRunOfAny } from "../store.ts";
import { keyRevoked, RunFailed } from "./stopped.ts";

/** The creator pays for private models of an agent, because the caller cannot see their price. */
export function sponsorOf(
  { manifest }: Model,
  { ownerId, userId }: Pick<Run, "ownerId" | "userId">,
): string | undefined {
  return manifest.visibility === "private" && ownerId !== userId ? ownerId : undefined;
}

/** Whether agents of this creator may use the model, for any caller. */
export function mayServe(model: Model | undefined, creatorId: string): model is Model {
  if (model === undefined) return false;
  // Runs that others began before a creator's account was deleted may end.
  if (model.ownerId === creatorId) return !model.isOwnerDisabled || model.isOwnerLeaving;
  return !model.isOwnerDisabled && model.manifest.visibility === "public";
}

export interface ModelDeps {
  models: Pick<Models, "getModel" | "targetOf">;
}

/** The agent's model now: its name may be an alias of the creator. */
export async function modelOf(
  { models }: ModelDeps,
  creatorId: string,
  { model }: Pick<AgentSnapshot, "model">,
): Promise<Model | undefined> {
  return models.getModel(await models.targetOf({ userId: creatorId }, model));
}

const defaultWindow = 32_000;

/** In tokens. */
export function windowOf(model: Pick<Model, "manifest"> | undefined): number {
  return model?.manifest.context_window ?? defaultWindow;
}

/** The current model of the run, read from memory for each call. Ends the run if the model can no longer be called. */
export async function currentModel(
  { models }: ModelDeps,
  { run, snapshot }: Pick<RunHistory, "run" | "snapshot">,
): Promise<Model> {
  const model = await modelOf({ models }, run.ownerId, snapshot);
  if (!mayServe(model, run.ownerId)) {
    throw new RunFailed("internal", `The agent's model ${snapshot.model} can no longer be called`);
  }
  if (!holdsConversations(model.manifest)) {
    const why = `can no longer hold a conversation with tools: ${namedBackends(model.manifest)}`;
    throw new RunFailed("internal", `The agent's model ${snapshot.model} ${why}`);
  }
  return model;
}

/**
 * Whether the key lists the agent of the run, or of a run above it. Such a key may call what that agent is built from: its
 * model, its sub-agents, and models that are fixed for `run_model`.
 */
export async function isAgentListed(
  { database }: { database: Pick<Database, "sql"> },
  { models }: Pick<Caller, "models">,
  { id, ancestors }: Pick<Run, "id" | "ancestors">,
): Promise<boolean> {
  const agents = (models ?? []).filter((name) => readAgentName(name) !== undefined);
  return agents.length > 0 && isRunOfAny(database.sql, [id, ...ancestors], agents);
}

export interface CallerDeps {
  accounts: Pick<Accounts, "callerOfKey">;
}

/** Checked before each action for the caller. Ends the run if the key was revoked. */
export async function requireCaller({ accounts }: CallerDeps, { keyId }: Pick<Run, "keyId">): Promise<Caller> {
  const caller = await accounts.callerOfKey(keyId);
  if (!caller) throw keyRevoked();
  return caller;
}
