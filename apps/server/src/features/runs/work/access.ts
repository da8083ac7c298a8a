import type { Accounts, Caller } from "../../accounts/index.ts";
import { holdsConversations, type Model, type Models } from "../../models/index.ts";
import type { Run, RunHistory } from "../run.ts";
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
  if (model === undefined || model.isOwnerDisabled) return false;
  return model.manifest.visibility === "public" || model.ownerId === creatorId;
}

export interface ModelDeps {
  models: Pick<Models, "getModel">;
}

/** The current model of the run, read from memory for each call. Ends the run if the model can no longer be called. */
export async function currentModel(
  { models }: ModelDeps,
  { run, snapshot }: Pick<RunHistory, "run" | "snapshot">,
): Promise<Model> {
  const model = await models.getModel(snapshot.model);
  if (!mayServe(model, run.ownerId)) {
    throw new RunFailed("internal", `The agent's model ${snapshot.model} can no longer be called`);
  }
  if (!holdsConversations(model.manifest)) {
    const { type } = model.manifest.backend;
    const why = `can no longer hold a conversation with tools: its backend is ${type}`;
    throw new RunFailed("internal", `The agent's model ${snapshot.model} ${why}`);
  }
  return model;
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
