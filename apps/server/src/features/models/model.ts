import type { Manifest, TakenDown } from "@gantry/wire";

/**
 * A model as it stands. One in use is the same object while its version is the same, so what is derived from a manifest
 * may be kept in a WeakMap by model. Shared between requests, therefore frozen.
 *
 *   (PUT) ──► live ──► retired                  PUT and PATCH on a live model count its version up
 *              └─ capacity 0: live, not active  a retired row never changes; its name is free again
 */
export interface Model {
  /** The row: what predictions refer to. A name that is used again after a DELETE gets another id. */
  readonly id: string;
  readonly ownerId: string;
  readonly owner: string;
  /** Such a model is there for what was accepted, and for an admin to change; nobody else finds it. */
  readonly isOwnerDisabled: boolean;
  /** The installation owns it, not a person. */
  readonly isBuiltIn: boolean;
  readonly name: string;
  /** `owner/name`. */
  readonly endpointId: string;
  readonly version: number;
  /** An admin took it away from everyone but its owner: it is private until it is restored. */
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
