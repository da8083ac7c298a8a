import type { Model, Models } from "../../models/index.ts";
import { holdsConversations } from "../../models/index.ts";
import { mayServe } from "../model-access.rules.ts";
import type { RunHistory } from "../run.ts";
import { RunFailed } from "./stopped.ts";

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
