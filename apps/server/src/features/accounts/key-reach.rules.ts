/** What a key is limited to. */
export interface KeyReach {
  models: readonly string[] | null;
  expiresAt: Date | null;
  monthlyLimitMicros: number | null;
}

/**
 * Whether the holder of one key may create, rotate or revoke another key of the same account.
 *
 * A key that was handed out must not lead to one that reaches further, nor lock its owner out. So a key with a list of
 * models or a monthly limit manages only itself, and a key that expires only keys that expire no later.
 */
export function mayManage(own: KeyReach & { keyId: string }, target: KeyReach & { keyId?: string }): boolean {
  if (own.keyId === target.keyId) return true;
  if (isConfined(own) || own.monthlyLimitMicros !== null) return false;
  const end = own.expiresAt;
  return end === null || (target.expiresAt !== null && target.expiresAt <= end);
}

/**
 * Whether a key carries its owner's power over prices and over other users. A key limited to models or to a budget was
 * made to run models: with the prices of its owner's models its budget would bound nothing. A replaced secret has it no
 * longer. An expiry takes nothing away: what is done until then stays done.
 */
export function mayAdministrate(own: KeyReach & { graceEndsAt: Date | null }): boolean {
  return own.models === null && own.monthlyLimitMicros === null && own.graceEndsAt === null;
}

type Models = Pick<KeyReach, "models">;

/**
 * Whether a key is limited to some models. Applications have such keys: each calls its models, runs agents on them with
 * what their creator gave them, and sees only what it started.
 */
export function isConfined({ models }: Models): boolean {
  return models !== null;
}

/** A key limited to some models reaches no other, whoever owns it. */
export function keyReaches({ models }: Models, endpointId: string): boolean {
  return models === null || models.includes(endpointId);
}

/** What a caller sees of a user's predictions, runs, files and usage: everything, or what one key started. */
export interface Scope {
  userId: string;
  onlyKeyId: string | null;
}

/** For the server itself, and for admins. */
export function everythingOf(userId: string): Scope {
  return { userId, onlyKeyId: null };
}

/** The id of a key outlives its rotation, so that a rotated key sees what it started before. */
export function scopeOf(caller: Models & { userId: string; keyId: string }): Scope {
  return { userId: caller.userId, onlyKeyId: isConfined(caller) ? caller.keyId : null };
}
