import { createDriver, type DriverSources } from "../engines/models/create-driver.ts";
import type { ModelDriver } from "../engines/models/driver.ts";
import type { Net } from "../engines/net/net.ts";
import type { Model } from "../features/models/index.ts";
import { type Fault, fault } from "../kernel/errors.ts";

/** A changed credential acts within this time without asking the database at every call. */
const keyLifeMs = 5_000;

interface Kept {
  driver: ModelDriver;
  key: string | undefined;
  checkedAt: number;
}

/** The driver of each model, kept as long as the model stays the same and its credential does. Part of composing. */
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

/** What the owner calls its secrets is nobody else's to know. */
function notStored(model: Model, secret: string, callerId: string): Fault {
  const told =
    callerId === model.ownerId
      ? `The secret "${secret}" that the manifest names is not stored: its owner stores it with PUT /api/v2/secrets/${secret}`
      : "The secret that the manifest names is not stored: the model's owner stores it with PUT /api/v2/secrets/{name}";
  return fault("downstream_service_error", told, {
    cause: new Error(`${model.endpointId} names the secret ${secret}, which its owner does not have`),
  });
}
