import type { ListedBackend } from "@gantry/wire";
import type { RevealedSecrets } from "../engines/models/backend-access.ts";
import { createDriver, type DriverSources } from "../engines/models/create-driver.ts";
import type { ModelDriver } from "../engines/models/driver.ts";
import type { Net } from "../engines/net/net.ts";
import type { Model } from "../features/models/index.ts";
import { type Fault, fault } from "../kernel/errors.ts";
import { isSame, namesSecrets, reveal, SecretMissing, type SecretSources } from "./backend-secrets.ts";

/** A changed credential takes effect within this time. */
const keyLifeMs = 5_000;

interface CachedDriver {
  driver: ModelDriver;
  revealed: RevealedSecrets;
  expiresAt: number;
}

/** Caches the driver of each backend until its model or a credential changes. */
export function openDrivers(
  options: Pick<DriverSources, "spoolFolder" | "builtins"> & {
    netOf(model: Model, backend: ListedBackend): Net;
    secretsOf(model: Model, backend: ListedBackend): SecretSources;
  },
): { of(model: Model, backend: ListedBackend, callerId: string): Promise<ModelDriver> } {
  const { secretsOf, netOf, ...sources } = options;
  const cached = new WeakMap<ListedBackend, CachedDriver>();

  return {
    async of(model, backend, callerId) {
      const now = performance.now();
      const known = cached.get(backend);
      if (known && now < known.expiresAt) return known.driver;
      const revealed = await reveal(backend, secretsOf(model, backend)).catch((error: unknown) => {
        throw error instanceof SecretMissing ? secretMissing(model, error, callerId) : error;
      });
      const driver =
        known && isSame(known.revealed, revealed)
          ? known.driver
          : createDriver(model.manifest, backend, { ...sources, net: netOf(model, backend), ...revealed });
      const expiresAt = namesSecrets(backend) ? now + keyLifeMs : Number.POSITIVE_INFINITY;
      cached.set(backend, { driver, revealed, expiresAt });
      return driver;
    },
  };
}

const othersMissing =
  "The secret named in the manifest does not exist. The model's owner can store it with PUT /api/v2/secrets/{name}.";
const operatorsMissing =
  "The operator's key for this model is missing. " +
  "An admin can store it with PUT /api/v2/admin/secrets/{name}, or set its variable in the server's environment.";

/** Only the owner may see the name of the secret. */
function secretMissing(model: Model, missing: SecretMissing, callerId: string): Fault {
  const msg = model.isBuiltIn ? operatorsMissing : callerId === model.ownerId ? missing.sentence : othersMissing;
  const cause = new Error(`${model.endpointId} names the secret ${missing.secret}, which does not exist`);
  return fault("downstream_service_error", msg, { cause });
}
