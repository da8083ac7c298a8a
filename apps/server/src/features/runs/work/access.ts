import type { Accounts, Caller } from "../../accounts/index.ts";
import { holdsConversations, type Model, type Models } from "../../models/index.ts";
import type { Run, RunHistory } from "../run.ts";
import { keyIsGone, RunFailed } from "./stopped.ts";

/**
 * Who pays for a call of a run's model in the caller's place: the agent's creator where the model is private, because the
 * caller can see neither the model nor its price.
 */
export function sponsorOf(
  { manifest }: Model,
  { ownerId, userId }: Pick<Run, "ownerId" | "userId">,
): string | undefined {
  return manifest.visibility === "private" && ownerId !== userId ? ownerId : undefined;
}

/** Whether an agent of this creator may be run with the model: who runs it does not matter. */
export function mayServe(model: Model | undefined, creatorId: string): model is Model {
  if (model === undefined || model.isOwnerDisabled) return false;
  return model.manifest.visibility === "public" || model.ownerId === creatorId;
}

export interface ModelDeps {
  models: Pick<Models, "getModel">;
}

/**
 * The run's model as it is at this moment: what it costs, how much it can take, where it is. Asked anew for each call,
 * which is a prediction of its own; that is a look into memory. The run ends where the model can no longer be called.
 */
export async function presentModel(
  { models }: ModelDeps,
  { run, snapshot }: Pick<RunHistory, "run" | "snapshot">,
): Promise<Model> {
  const model = await models.getModel(snapshot.model);
  if (!mayServe(model, run.ownerId)) {
    throw new RunFailed("internal", `The agent's model ${snapshot.model} can no longer be called`);
  }
  if (!holdsConversations(model.manifest)) {
    const { type } = model.manifest.backend;
    const why = `cannot hold a conversation with tools any more: its backend is ${type}`;
    throw new RunFailed("internal", `The agent's model ${snapshot.model} ${why}`);
  }
  return model;
}

export interface CallerDeps {
  accounts: Pick<Accounts, "callerOfKey">;
}

/** Asked before anything is sent or written for a run's caller. The run ends where the key works no longer. */
export async function requireCaller({ accounts }: CallerDeps, { keyId }: Pick<Run, "keyId">): Promise<Caller> {
  const caller = await accounts.callerOfKey(keyId);
  if (!caller) throw keyIsGone();
  return caller;
}
