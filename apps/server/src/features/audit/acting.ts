import { AsyncLocalStorage } from "node:async_hooks";
import type { AuditActorType } from "@gantry/wire";

export interface Actor {
  type: AuditActorType;
  id: string | null;
  username: string | null;
  keyId: string | null;
  keyPublic: string | null;
  /** The request came with a console session. */
  session: boolean;
}

/** Where a request came from. */
export interface RequestSource {
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
}

export interface Acting {
  actor: Actor;
  source: RequestSource | null;
}

const without = { id: null, username: null, keyId: null, keyPublic: null, session: false };
export const operator: Actor = { ...without, type: "operator" };
export const anonymous: Actor = { ...without, type: "anonymous" };
const system: Actor = { ...without, type: "system" };

/** Entered for routes that manage something. Predictions do not pay for it. */
const storage = new AsyncLocalStorage<Acting>();

/** Records that `work` writes name this actor. */
export function actingAs<T>(acting: Acting, work: () => T): T {
  return storage.run(acting, work);
}

/** Records of work that no request or command began name the system. */
export function actingNow(): Acting {
  return storage.getStore() ?? { actor: system, source: null };
}

/** The caller becomes known after the request began: a sign-in. */
export function actorIs(actor: Partial<Actor>): void {
  const acting = storage.getStore();
  if (acting) acting.actor = { ...acting.actor, type: "user", ...actor };
}
