import { type Caller, keyReaches, mayAdministrate } from "../accounts/index.ts";

/** Public models are everyone's; a private one is its owner's alone, an admin is refused too. */
export function mayCall(
  caller: Pick<Caller, "userId" | "models">,
  model: { ownerId: string; endpointId: string; manifest: { visibility: string } },
): boolean {
  if (!keyReaches(caller, model.endpointId)) return false;
  return model.manifest.visibility === "public" || model.ownerId === caller.userId;
}

/** Whether the caller chose the model: an own one, a built-in one, or one that the key names. */
export function isChosen(
  caller: Pick<Caller, "userId" | "models">,
  { ownerId, isBuiltIn, endpointId }: { ownerId: string; isBuiltIn: boolean; endpointId: string },
): boolean {
  return ownerId === caller.userId || isBuiltIn || (caller.models?.includes(endpointId) ?? false);
}

export function isAdmin(caller: Caller): boolean {
  return caller.role === "admin" && mayAdministrate(caller);
}

/** A model is changed by its owner, or by an admin. */
export function mayChange(caller: Caller, owner: string): boolean {
  return owner === caller.username || isAdmin(caller);
}
