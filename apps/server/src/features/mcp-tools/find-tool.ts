import type { AgentSnapshot } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { type Caller, isConfined, keyReaches } from "../accounts/index.ts";
import type { Runnable } from "../agents/index.ts";
import { isChosen, type Model } from "../models/index.ts";
import type { McpToolsContext } from "./context.ts";
import { createMayAsk } from "./may-ask.ts";
import { takesObject } from "./takes-object.rules.ts";
import { modelToolName, readToolName } from "./tool-names.rules.ts";
import { unlessMissing } from "./unless-missing.ts";

export type FoundTool =
  | { kind: "model"; model: Model }
  | { kind: "agent"; runnable: Runnable }
  | { kind: "action"; name: string };

const pageSize = 100;

/**
 * What a tool's name stands for, or undefined for what the caller is not offered. A model that exists and is refused to
 * the caller is the fault that its routes answer with.
 */
export async function findTool(context: McpToolsContext, caller: Caller, name: string): Promise<FoundTool | undefined> {
  const address = readToolName(name);
  switch (address?.kind) {
    case "model":
      return findModel(context, caller, address.owner, address.name);
    case "cut-model": {
      const whole = await findCutModel(context, caller, name, `${address.owner}/${address.beginning}`);
      return whole && findModel(context, caller, whole.owner, whole.name);
    }
    case "agent":
      return findAgent(context, caller, address.slug);
    case "action": {
      const isThere = (await readActions(context, caller)).some(({ id }) => id === name);
      return isThere ? { kind: "action", name } : undefined;
    }
    default:
      return undefined;
  }
}

/** The read actions of the connector, where the caller has set one up. A key confined to some models does not reach it. */
export async function readActions({ idp }: McpToolsContext, caller: Caller) {
  if (isConfined(caller)) return [];
  const connector = await unlessMissing(idp.read(caller.userId));
  return connector ? idp.describeTools().filter(({ kind }) => kind === "read") : [];
}

/** Public models of other users are not offered unless the key names them: their owners write what a client's model reads. */
async function findModel({ models }: McpToolsContext, caller: Caller, owner: string, name: string) {
  const standing = await models.getModel(`${owner}/${name}`);
  if (!standing || !isChosen(caller, standing)) return undefined;
  const model = await unlessMissing(models.resolveForCall(caller, owner, name));
  return model && { kind: "model" as const, model };
}

/** Nothing that may ask, for nobody would answer; and nothing that the key could not run. */
async function findAgent(context: McpToolsContext, caller: Caller, slug: string) {
  const { agents } = context;
  const runnable = await unlessMissing(agents.getRunnable(caller.userId, { creator: caller.username, slug }));
  if (!runnable || !isCallable(caller, runnable.revision.snapshot)) return undefined;
  switch (await createMayAsk(context)(caller.userId, runnable.revision.snapshot)) {
    case "yes":
      return undefined;
    case "unknown":
      throw fault(
        "downstream_service_unavailable",
        "A tool server of the agent does not answer, so that it cannot be told whether the agent would ask for a confirmation, which nobody could give here",
      );
    case "no":
      return { kind: "agent" as const, runnable };
  }
}

/** Whether a call of it could come to a run: its key reaches the model, and arguments, an object, can be its input. */
export function isCallable(caller: Caller, { model, input_schema: input }: AgentSnapshot): boolean {
  return keyReaches(caller, model) && takesObject(input);
}

async function findCutModel({ models }: McpToolsContext, caller: Caller, toolName: string, q: string) {
  for (let offset = 0; ; offset += pageSize) {
    const { entries, total } = await models.listModels(caller, { limit: pageSize, offset, q, withoutOthers: true });
    const found = entries.find((model) => modelToolName(model) === toolName);
    if (found || entries.length === 0 || offset + entries.length >= total) return found;
  }
}
