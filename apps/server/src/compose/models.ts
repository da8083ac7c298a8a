import { readAgentName } from "@gantry/wire";
import type { Config } from "../config/config.ts";
import type { Database } from "../engines/database/database.ts";
import { openAccess } from "../engines/models/backend-access.ts";
import { imageManifest } from "../engines/models/builtin/image-manifest.ts";
import { createImagePainter } from "../engines/models/builtin/painter.ts";
import { createRules } from "../engines/models/builtin/rules.ts";
import { textModels } from "../engines/models/builtin/text-manifests.ts";
import { fetchCogSchema } from "../engines/models/cog/schema.ts";
import type { LocalServer } from "../engines/models/providers/providers.ts";
import type { Net } from "../engines/net/net.ts";
import type { Pictures } from "../engines/pictures/pictures.ts";
import type { Agents } from "../features/agents/index.ts";
import {
  type AgentTargets,
  type FetchCogSchema,
  type Models,
  openModels,
  seedModels,
} from "../features/models/index.ts";
import type { Providers } from "../features/providers/index.ts";
import type { Secrets } from "../features/secrets/index.ts";
import { Fault, fault } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { reveal, SecretMissing } from "./backend-secrets.ts";
import { openDrivers } from "./drivers.ts";
import { useFound } from "./find-models.ts";
import { isOperators, operatorKeyOf } from "./operator-models.ts";
import { openProvidersOf } from "./providers.ts";
import type { WaysOut } from "./telemetry.ts";

export interface NamedTargets extends AgentTargets {
  /** Which of the models and agents the user may call or run. */
  callableAmong(userId: string, names: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Keys and aliases name models and agents, which are opened after them: looked up when used. */
export function namedTargets(parts: {
  models(): Pick<Models, "callableAmong">;
  agents(): Pick<Agents, "getRunnable" | "exists">;
}): NamedTargets {
  const mayRun: AgentTargets["mayRun"] = (userId, agent) =>
    parts
      .agents()
      .getRunnable(userId, agent)
      .then(
        () => true,
        (error) => {
          if (error instanceof Fault && error.status < 500) return false;
          throw error;
        },
      );
  return {
    mayRun,
    exists: (agent) => parts.agents().exists(agent),
    async callableAmong(userId, names) {
      const models = await parts.models().callableAmong({ userId, models: null }, names);
      const isCallable = async (name: string) => {
        const agent = readAgentName(name);
        return agent ? mayRun(userId, agent) : models.has(name);
      };
      const callable = await Promise.all(names.map(isCallable));
      return new Set(names.filter((_, at) => callable[at]));
    },
  };
}

export interface Catalogue {
  models: Models;
  drivers: ReturnType<typeof openDrivers>;
  providers: Providers;
  /** What was found on this machine, for the operator. */
  foundLines: readonly string[];
  close(): Promise<unknown>;
}

/** Opens the shipped and the users' models with their drivers, and the providers that models are imported from. */
export async function openCatalogue(deps: {
  config: Config;
  database: Database;
  log: Log;
  secrets: Secrets;
  waysOut: WaysOut;
  spoolDir: string;
  pictures: Pictures;
  targets: AgentTargets;
  /** Language model servers on this machine, if this server looks for them. */
  found: LocalServer[] | undefined;
}): Promise<Catalogue> {
  const { config, database, log, secrets, waysOut } = deps;
  const local = await useFound(config, database, deps.found);
  const shipped = [
    { owner: "gantry", name: "image", manifest: imageManifest },
    ...textModels({
      anthropicKey: config.ANTHROPIC_API_KEY !== undefined,
      llmUrl: config.GANTRY_LLM_URL,
      llmModel: config.GANTRY_LLM_MODEL,
      llmKey: config.GANTRY_LLM_KEY !== undefined,
      local: local.model,
    }),
  ];
  await seedModels(database, shipped);
  const painter = createImagePainter(deps.pictures);
  const builtins = { image: painter, rules: createRules() };
  const models = await openModels({
    database,
    log,
    builtins: Object.keys(builtins),
    shipped,
    fetchCogSchema: (request) => readCogSchema(waysOut.net, secrets, request),
    agentTargets: deps.targets,
  });
  const drivers = openDrivers({
    netOf: (model) => (isOperators(model) ? waysOut.operatorNet : waysOut.net),
    spoolFolder: deps.spoolDir,
    builtins,
    secretsOf: (model, backend) => ({
      key: (name) => operatorKeyOf(config, model, backend, name) ?? secrets.reveal(model.ownerId, name),
      stored: (name) => secrets.reveal(model.ownerId, name),
    }),
  });
  const providers = await openProvidersOf({ config, database, models, secrets, waysOut });
  return {
    models,
    drivers,
    providers,
    foundLines: local.lines,
    close: () => Promise.all([models.close(), painter.close()]),
  };
}

/** A missing key is not sent, because many servers show their schemas to everyone. */
async function readCogSchema(
  net: Net,
  secrets: Pick<Secrets, "reveal">,
  { ownerId, secret, ...backend }: Parameters<FetchCogSchema>[0],
): ReturnType<FetchCogSchema> {
  const stored = (name: string) => secrets.reveal(ownerId, name);
  const key = secret === undefined ? undefined : await stored(secret);
  const revealed = await reveal(backend, { key: stored, stored }).catch((error: unknown) => {
    throw error instanceof SecretMissing ? fault("downstream_service_error", error.sentence, { cause: error }) : error;
  });
  const access = openAccess(net, backend, { ...revealed, key });
  return fetchCogSchema(access.net, backend.url, access);
}
