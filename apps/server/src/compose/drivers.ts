import { createDriver, type DriverSources } from "../engines/models/create-driver.ts";
import type { ModelDriver } from "../engines/models/driver.ts";
import type { Net } from "../engines/net/net.ts";
import type { Model } from "../features/models/index.ts";
import { type Fault, fault } from "../kernel/errors.ts";

/** How long a credential is cached. */
const keyLifeMs = 5_000;

interface Kept {
  driver: ModelDriver;
  key: string | undefined;
  checkedAt: number;
}

/** Caches the driver of each model until the model or its credential changes. */
export function openDrivers(
  options: Omit<DriverSources, "key" | "net"> & {
    netOf(model: Model): Net;
    reveal(model: Model, secretName: string): Promise<string | undefined> | string | undefined;
  },
): { of(model: Model, callerId: string): Promise<ModelDriver> } {
  const { reveal, netOf, ...sources } = options;
  const kept = new WeakMap<Model, Kept>();

  return {
    async of(model, callerId) {
      const { secret } = model.manifest.backend;
      const now = performance.now();
      const known = kept.get(model);
      if (known && (secret === undefined || now - known.checkedAt < keyLifeMs)) return known.driver;
      const key = secret === undefined ? undefined : await reveal(model, secret);
      if (secret !== undefined && key === undefined) throw notStored(model, secret, callerId);
      const driver =
        known && known.key === key
          ? known.driver
          : createDriver(model.manifest, { ...sources, net: netOf(model), key });
      kept.set(model, { driver, key, checkedAt: now });
      return driver;
    },
  };
}

/** Only the owner sees the name of the secret. */
function notStored(model: Model, secret: string, callerId: string): Fault {
  const message =
    callerId === model.ownerId
      ? `The model needs the secret "${secret}", which is not stored. Store it with PUT /api/v2/secrets/${secret}`
      : "The model needs a secret that its owner has not stored. Ask the owner to store it.";
  return fault("downstream_service_error", message, {
    cause: new Error(`${model.endpointId} needs the secret ${secret}, which its owner has not stored`),
  });
}
