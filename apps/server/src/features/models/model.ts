import type { Manifest, TakenDown } from "@gantry/wire";

/**
 * A cached model stays the same object until its version changes, so derived values can be kept in a WeakMap. Shared
 * between requests, therefore frozen.
 *
 *   (PUT) ──► live ──► retired                  PUT and PATCH on a live model increment its version
 *              └─ capacity 0: live, not active  a retired row never changes; its name is free again
 */
export interface Model {
  /** Predictions refer to it. A name reused after a DELETE gets a new id. */
  readonly id: string;
  readonly ownerId: string;
  readonly owner: string;
  /** Only accepted predictions and admins still see such a model. */
  readonly isOwnerDisabled: boolean;
  /** The account of the owner is being deleted: the model is hidden, and ends the work that it has begun. */
  readonly isOwnerLeaving: boolean;
  /** Owned by a system user. */
  readonly isBuiltIn: boolean;
  readonly name: string;
  /** `owner/name`. */
  readonly endpointId: string;
  readonly version: number;
  /** Made private by an admin until it is restored. */
  readonly takenDown: TakenDown | null;
  readonly manifest: Manifest;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SeedModel {
  owner: string;
  name: string;
  manifest: Manifest;
}
