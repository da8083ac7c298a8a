import type { Manifest } from "@gantry/wire";
import type { Model } from "../../features/models/index.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import type { DoorDeps, Named } from "./deps.ts";

export interface AgentTarget {
  kind: "agent";
  address: { creator: string; slug: string };
}

export type Target = { kind: "model"; model: Model } | AgentTarget;

const agentName = /^agents\/([^/]+)\/([^/]+)$/;

/** Finds what the name in a request stands for. Models that the caller may not call do not exist for it. */
export async function findTarget(
  deps: Pick<DoorDeps, "models">,
  { caller, name }: Named,
  kinds: readonly Manifest["kind"][],
): Promise<Target> {
  if (typeof name !== "string" || name === "") throw fault("missing", "Field required", { loc: ["body", "model"] });
  const id = name.includes("/") ? name : ((await deps.models.resolveAlias(caller, name)) ?? name);
  const [, creator, slug] = agentName.exec(id) ?? [];
  if (creator !== undefined && slug !== undefined) {
    if (!kinds.includes("text")) throw wrongKind(name, "an agent", kinds);
    return { kind: "agent", address: { creator, slug } };
  }
  const slash = id.indexOf("/");
  const model = await deps.models
    .resolveForCall(caller, id.slice(0, Math.max(slash, 0)), id.slice(slash + 1))
    .catch((error: unknown) => {
      throw error instanceof Fault && (error.type === "not_found" || error.type === "forbidden")
        ? modelNotFound(name, error)
        : error;
    });
  if (!kinds.includes(model.manifest.kind)) throw wrongKind(name, `a model of kind ${model.manifest.kind}`, kinds);
  return { kind: "model", model };
}

/** The text model with the name. Undefined for an agent that the caller may run. */
export async function findReachable(
  deps: Pick<DoorDeps, "models" | "agents">,
  named: Named,
): Promise<Model | undefined> {
  const target = await findTarget(deps, named, ["text"]);
  if (target.kind === "model") return target.model;
  const { caller } = named;
  const { agent, revision } = await deps.agents.getRunnable(caller.userId, target.address);
  if (await deps.agents.keyReachesAgent(caller, agent, revision.snapshot)) return undefined;
  throw fault("not_found", "The agent does not exist, or this key may not run it.", { loc: ["body", "model"] });
}

/** Finds a model of a kind that agents do not have. */
export async function findModel(
  deps: Pick<DoorDeps, "models">,
  named: Named,
  kind: "embedding" | "image",
): Promise<Model> {
  const target = await findTarget(deps, named, [kind]);
  if (target.kind === "agent") throw wrongKind(String(named.name), "an agent", [kind]);
  return target.model;
}

function modelNotFound(name: string, cause: Fault): Fault {
  const isInactive = cause.message === "Project is not active";
  const msg = isInactive
    ? `The model ${JSON.stringify(name)} is not active.`
    : `The model ${JSON.stringify(name)} does not exist, or this key may not call it. GET /v1/models lists the models.`;
  return fault("not_found", msg, { loc: ["body", "model"], cause });
}

function wrongKind(name: string, what: string, kinds: readonly string[]): Fault {
  const msg = `${JSON.stringify(name)} is ${what}. This route needs a model of kind ${kinds.join(" or ")}.`;
  return fault("value_error", msg, { loc: ["body", "model"] });
}
