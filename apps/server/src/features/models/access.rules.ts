import { type Caller, keyReaches, mayAdministrate } from "../accounts/index.ts";

/** Public models are everyone's; a private one is its owner's alone, an admin is refused too. */
export function mayCall(
  caller: Pick<Caller, "userId" | "models">,
  model: { ownerId: string; endpointId: string; manifest: { visibility: string } },
): boolean {
  if (!keyReaches(caller, model.endpointId)) return false;
  return model.manifest.visibility === "public" || model.ownerId === caller.userId;
}

export function isAdmin(caller: Caller): boolean {
  return caller.role === "admin" && mayAdministrate(caller);
}

/** A model is changed by its owner, or by an admin. */
export function mayChange(caller: Caller, owner: string): boolean {
  return owner === caller.username || isAdmin(caller);
}
