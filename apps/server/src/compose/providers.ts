import { type ProviderPreset, providerTypes } from "@gantry/wire";
import type { Config } from "../config/config.ts";
import type { Database } from "../engines/database/database.ts";
import type { Models } from "../features/models/index.ts";
import { openProviders, type Providers } from "../features/providers/index.ts";
import type { Secrets } from "../features/secrets/index.ts";
import { environmentProviders, vendorKeyOf } from "./operator-models.ts";
import type { WaysOut } from "./telemetry.ts";
import { upstreamsOf } from "./upstreams.ts";

export function openProvidersOf(deps: {
  config: Config;
  database: Database;
  models: Models;
  secrets: Secrets;
  waysOut: WaysOut;
}): Promise<Providers> {
  const { config, database, models, secrets, waysOut } = deps;
  return openProviders({
    database,
    models,
    upstreams: upstreamsOf(waysOut),
    environment: environmentProviders(config),
    secrets: {
      async key(owner, { type, url }, name) {
        const preset: ProviderPreset = providerTypes[type];
        const ofVendor = owner.isOperator ? vendorKeyOf(config, url ?? preset.url, name) : undefined;
        return ofVendor ?? secrets.reveal(owner.id, name);
      },
      stored: (owner, name) => secrets.reveal(owner.id, name),
    },
  });
}
