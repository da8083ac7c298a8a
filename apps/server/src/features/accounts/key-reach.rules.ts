import { type Fault, fault } from "../../kernel/errors.ts";

/** What a key is confined to. */
export interface KeyReach {
  models: readonly string[] | null;
  expiresAt: Date | null;
  monthlyLimitMicros: number | null;
}

/**
 * Whether the holder of one key may make, rotate or revoke another key of the same account.
 *
 * A key that was narrowed and handed out must not be a way to a wider one: neither by making it, nor by rotating a wider
 * key (which shows its new secret), and it must not lock out its owner by revoking wider ones. So a key manages itself
 * and keys that reach no further than itself. A monthly limit is a budget of one key alone, every further key would have
 * another: a key with a budget manages itself only.
 */
export function mayManage(own: KeyReach & { keyId: string }, target: KeyReach & { keyId?: string }): boolean {
  if (own.keyId === target.keyId) return true;
  if (own.monthlyLimitMicros !== null) return false;
  const end = own.expiresAt;
  if (end !== null && (target.expiresAt === null || target.expiresAt > end)) return false;
  const allowed = own.models;
  return allowed === null || (target.models?.every((model) => allowed.includes(model)) ?? false);
}

/**
 * Whether a key of an admin carries the admin's power, and anybody's the power over what things cost and where they lead. A
 * key narrowed to some models or to a budget was made to run models; with the admin routes it could make itself another
 * admin, and with the prices of its owner's models its budget would bound nothing. An expiry alone takes nothing away: it
 * says for how long the key works, and what is done in that time stays done.
 */
export function mayAdministrate(own: KeyReach): boolean {
  return own.models === null && own.monthlyLimitMicros === null;
}

type Reach = Pick<KeyReach, "models">;

/**
 * Whether a key has a list of models. Such a key is handed to an application: it calls these models, and runs agents on
 * them with all that their creator gave them. What its owner has (models, secrets, stored files, drives, tool servers, the
 * connector, and whatever agent would open one of them) it does not manage.
 */
export function isConfined({ models }: Reach): boolean {
  return models !== null;
}

/** A key confined to some models reaches no other, whoever owns it. */
export function keyReaches({ models }: Reach, endpointId: string): boolean {
  return models === null || models.includes(endpointId);
}

/** Refuses a confined key what is its owner's alone; `doing` says what that is: "use drives". */
export function refuseConfined(own: Reach, doing: string): void {
  if (isConfined(own)) throw beyondKey(doing);
}

/** Refuses it to a key with a budget, too. */
export function refuseNarrowed(own: KeyReach, doing: string): void {
  refuseConfined(own, doing);
  if (!mayAdministrate(own)) throw fault("forbidden", `This key has a monthly limit and may not ${doing}`);
}

/** What a confined key is told, where more than its being one decides. */
export function beyondKey(doing: string): Fault {
  return fault("forbidden", `This key is confined to some models and may not ${doing}`);
}

/**
 * Whether a key speaks for the caller of a run: a confined one for the runs that it started itself, as another may be
 * another application's. A key that was rotated is the same key.
 */
export function speaksFor(own: Reach & { keyId: string }, run: { keyId: string }): boolean {
  return !isConfined(own) || own.keyId === run.keyId;
}
