import { modelKinds } from "@gantry/wire";
import type { Caller } from "../../features/accounts/index.ts";
import type { RunnableCard } from "../../features/agents/index.ts";
import type { Model } from "../../features/models/index.ts";
import { fault } from "../../kernel/errors.ts";
import type { DoorDeps } from "../doors/deps.ts";
import { findTarget } from "../doors/find-target.ts";

/** A model, alias or agent in the list that clients read. */
export interface ListedModel {
  id: string;
  name: string;
  owner: string;
  createdAt: Date;
  kind: string;
  contextWindow?: number | undefined;
  maxOutputTokens?: number | undefined;
}

/** Clients read the whole list at once. Aliases and agents have bounds of their own. */
const mostModels = 1000;

/** Everything that the caller may name as a model: models, then aliases, then agents. */
export async function listCallable(deps: DoorDeps, caller: Caller): Promise<ListedModel[]> {
  const [models, agents, aliases] = await Promise.all([
    listModels(deps, caller),
    deps.agents.listRunnable(caller),
    deps.models.listAliases(caller),
  ]);
  const own = models.map((model) => listedModel(model));
  const runnable = agents.map((card) => listedAgent(card));
  const targets = new Map([...own, ...runnable].map((listed) => [listed.id, listed]));
  return [...own, ...(await listAliases(deps, caller, aliases, targets)), ...runnable];
}

async function listModels({ models }: DoorDeps, caller: Caller): Promise<Model[]> {
  const range = { limit: mostModels, offset: 0 };
  const { entries, total } = await models.listModels(caller, range);
  // Models of other users do not crowd out the caller's own.
  const own = total > mostModels ? (await models.listModels(caller, { ...range, withoutOthers: true })).entries : [];
  const others = entries.filter(({ id }) => !own.some((model) => model.id === id));
  return [...own, ...others].slice(0, mostModels).filter(({ manifest }) => manifest.capacity > 0);
}

/** Aliases look like what they stand for. */
async function listAliases(
  { models }: DoorDeps,
  caller: Caller,
  aliases: readonly { name: string; model: string }[],
  targets: ReadonlyMap<string, ListedModel>,
): Promise<ListedModel[]> {
  const unlisted = aliases.map(({ model }) => model).filter((id) => !targets.has(id));
  const found = unlisted.length === 0 ? undefined : await models.callableAmong(caller, unlisted);
  return aliases.flatMap(({ name, model: id }) => {
    const listed = targets.get(id);
    if (listed) return [{ ...listed, id: name, name }];
    const model = found?.get(id);
    return model && model.manifest.capacity > 0 ? [listedModel(model, name)] : [];
  });
}

/** Throws 404 if the caller may not call it. */
export async function findCallable(deps: DoorDeps, caller: Caller, id: string): Promise<ListedModel> {
  const target = await findTarget(deps, { caller, name: id }, modelKinds);
  if (target.kind === "model") return listedModel(target.model, id);
  const card = await deps.agents.findRunnable(caller, target.address);
  if (!card) throw notFound(id);
  return listedAgent(card, id);
}

function notFound(id: string) {
  const msg = `The agent ${JSON.stringify(id)} does not exist, or this key may not run it. GET /v1/models lists the agents.`;
  return fault("not_found", msg, { loc: ["body", "model"] });
}

function listedModel({ endpointId, owner, manifest, createdAt }: Model, id = endpointId): ListedModel {
  return {
    id,
    name: id === endpointId ? manifest.title : id,
    owner,
    createdAt,
    kind: manifest.kind,
    contextWindow: manifest.context_window,
    maxOutputTokens: manifest.max_output_tokens,
  };
}

function listedAgent(card: RunnableCard, id = card.id): ListedModel {
  const [, owner = ""] = card.id.split("/");
  return { id, name: id === card.id ? card.name : id, owner, createdAt: card.publishedAt, kind: "agent" };
}
