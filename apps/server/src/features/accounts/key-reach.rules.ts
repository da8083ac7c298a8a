/** Limits of a key. */
export interface KeyReach {
  models: readonly string[] | null;
  expiresAt: Date | null;
  monthlyLimitMicros: number | null;
}

/**
 * Whether one key may create, rotate or revoke another key of the same user. A shared key must not lead to a key with wider
 * access, or lock its owner out: a key with a model list or a monthly limit manages only itself, and a key that expires
 * manages only keys that expire no later.
 */
export function mayManage(own: KeyReach & { keyId: string }, target: KeyReach & { keyId?: string }): boolean {
  if (own.keyId === target.keyId) return true;
  if (isConfined(own) || own.monthlyLimitMicros !== null) return false;
  const end = own.expiresAt;
  return end === null || (target.expiresAt !== null && target.expiresAt <= end);
}

/**
 * Whether a key may change prices and, for admins, other users. A key limited to models or to a budget may not: by changing
 * its owner's prices it could escape its budget. A replaced secret may not either. An expiry does not matter.
 */
export function mayAdministrate(own: KeyReach & { graceEndsAt: Date | null }): boolean {
  return own.models === null && own.monthlyLimitMicros === null && own.graceEndsAt === null;
}

type Models = Pick<KeyReach, "models">;

/** Whether a key is limited to some models. Such a key, usually of an application, sees only what it started. */
export function isConfined({ models }: Models): boolean {
  return models !== null;
}

/** `name`: an endpoint id, or an agent as `agents/creator/slug`. */
export function keyReaches({ models }: Models, name: string): boolean {
  return models === null || models.includes(name);
}

/** What a caller sees of a user's predictions, runs, files and usage: all of it, or what one key started. */
export interface Scope {
  userId: string;
  onlyKeyId: string | null;
}

/** For the server itself, and for admins. */
export function everythingOf(userId: string): Scope {
  return { userId, onlyKeyId: null };
}

/** Key ids survive a rotation, so a rotated key sees what it started before. */
export function scopeOf(caller: Models & { userId: string; keyId: string }): Scope {
  return { userId: caller.userId, onlyKeyId: isConfined(caller) ? caller.keyId : null };
}
