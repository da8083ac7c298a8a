import { type Caller, keyReaches, mayAdministrate } from "../accounts/index.ts";

/** A private model is only for its owner. Admins are refused too. */
export function mayCall(
  caller: Pick<Caller, "userId" | "models">,
  model: { ownerId: string; endpointId: string; manifest: { visibility: string } },
): boolean {
  if (!keyReaches(caller, model.endpointId)) return false;
  return model.manifest.visibility === "public" || model.ownerId === caller.userId;
}

/** Own, built-in, or named by the key. */
export function isChosen(
  caller: Pick<Caller, "userId" | "models">,
  { ownerId, isBuiltIn, endpointId }: { ownerId: string; isBuiltIn: boolean; endpointId: string },
): boolean {
  return ownerId === caller.userId || isBuiltIn || (caller.models?.includes(endpointId) ?? false);
}

export function isAdmin(caller: Caller): boolean {
  return caller.role === "admin" && mayAdministrate(caller);
}

export function mayChange(caller: Caller, owner: string): boolean {
  return owner === caller.username || isAdmin(caller);
}
