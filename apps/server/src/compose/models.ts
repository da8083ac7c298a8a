import type { Config } from "../config/config.ts";
import type { Database } from "../engines/database/database.ts";
import { imageManifest } from "../engines/models/builtin/image-manifest.ts";
import { createImagePainter } from "../engines/models/builtin/painter.ts";
import { createRules } from "../engines/models/builtin/rules.ts";
import { textModels } from "../engines/models/builtin/text-manifests.ts";
import { fetchCogSchema } from "../engines/models/cog/schema.ts";
import { type Models, openModels, seedModels } from "../features/models/index.ts";
import type { Secrets } from "../features/secrets/index.ts";
import type { Log } from "../kernel/log.ts";
import { openDrivers } from "./drivers.ts";
import { isOperators, operatorKeyOf } from "./operator-models.ts";
import type { WaysOut } from "./telemetry.ts";

export interface ModelsWithDrivers {
  models: Models;
  drivers: ReturnType<typeof openDrivers>;
  close(): Promise<unknown>;
}

/** Opens the shipped and the users' models with their drivers. */
export async function openModelsWithDrivers(deps: {
  config: Config;
  database: Database;
  log: Log;
  secrets: Secrets;
  waysOut: WaysOut;
  spoolDir: string;
}): Promise<ModelsWithDrivers> {
  const { config, database, log, secrets, waysOut } = deps;
  const shipped = [
    { owner: "gantry", name: "image", manifest: imageManifest },
    ...textModels({
      anthropicKey: config.ANTHROPIC_API_KEY !== undefined,
      llmUrl: config.GANTRY_LLM_URL,
      llmModel: config.GANTRY_LLM_MODEL,
      llmKey: config.GANTRY_LLM_KEY !== undefined,
    }),
  ];
  await seedModels(database, shipped);
  const painter = createImagePainter({ onTrouble: (text, error) => log.error({ err: error }, text) });
  const builtins = { image: painter, rules: createRules() };
  const models = await openModels({
    database,
    log,
    builtins: Object.keys(builtins),
    shipped,
    fetchCogSchema: async ({ url, ownerId, secret }) => {
      const key = secret === undefined ? undefined : await secrets.reveal(ownerId, secret);
      return fetchCogSchema(waysOut.net, url, { key });
    },
  });
  const drivers = openDrivers({
    netOf: (model) => (isOperators(model) ? waysOut.operatorNet : waysOut.net),
    spoolFolder: deps.spoolDir,
    builtins,
    reveal: (model, name) => operatorKeyOf(config, model, name) ?? secrets.reveal(model.ownerId, name),
  });
  return { models, drivers, close: () => Promise.all([models.close(), painter.close()]) };
}
