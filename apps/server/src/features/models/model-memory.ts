import type { Log } from "../../kernel/log.ts";
import type { Model } from "./model.ts";
import { RecentValues } from "./recent-values.ts";

const maxModels = 1000;

/** By endpoint id. */
export type ModelMemory = RecentValues<Model>;

export function createModelMemory(find: (endpointId: string) => Promise<Model | undefined>, log: Log): ModelMemory {
  return new RecentValues<Model>({ find, isSame, maxValues: maxModels, log });
}

function isSame(one: Model, other: Model): boolean {
  const isSameOwner = one.isOwnerDisabled === other.isOwnerDisabled && one.isOwnerLeaving === other.isOwnerLeaving;
  return one.id === other.id && one.version === other.version && isSameOwner;
}
