import type { ListedBackend } from "@gantry/wire";
import { createDriver, type DriverSources } from "../engines/models/create-driver.ts";
import type { ModelDriver } from "../engines/models/driver.ts";
import type { Net } from "../engines/net/net.ts";
import type { Model } from "../features/models/index.ts";
import { type Fault, fault } from "../kernel/errors.ts";

/** A changed credential takes effect within this time. */
const keyLifeMs = 5_000;

interface CachedDriver {
  driver: ModelDriver;
  key: string | undefined;
  checkedAt: number;
}

/** Caches the driver of each backend until its model or credential changes. */
export function openDrivers(
  options: Omit<DriverSources, "key" | "net"> & {
    netOf(model: Model, backend: ListedBackend): Net;
    reveal(model: Model, backend: ListedBackend, secretName: string): Promise<string | undefined> | string | undefined;
  },
): { of(model: Model, backend: ListedBackend, callerId: string): Promise<ModelDriver> } {
  const { reveal, netOf, ...sources } = options;
  const cached = new WeakMap<ListedBackend, CachedDriver>();

  return {
    async of(model, backend, callerId) {
      const { secret } = backend;
      const now = performance.now();
      const known = cached.get(backend);
      if (known && (secret === undefined || now - known.checkedAt < keyLifeMs)) return known.driver;
      const key = secret === undefined ? undefined : await reveal(model, backend, secret);
      if (secret !== undefined && key === undefined) throw secretMissing(model, secret, callerId);
      const driver =
        known && known.key === key
          ? known.driver
          : createDriver(model.manifest, backend, { ...sources, net: netOf(model, backend), key });
      cached.set(backend, { driver, key, checkedAt: now });
      return driver;
    },
  };
}

/** Only the owner may see the name of the secret. */
function secretMissing(model: Model, secret: string, callerId: string): Fault {
  const msg =
    callerId === model.ownerId
      ? `The secret "${secret}" named in the manifest does not exist. Store it with PUT /api/v2/secrets/${secret}.`
      : "The secret named in the manifest does not exist. The model's owner can store it with PUT /api/v2/secrets/{name}.";
  const cause = new Error(`${model.endpointId} names the secret ${secret}, which does not exist`);
  return fault("downstream_service_error", msg, { cause });
}
