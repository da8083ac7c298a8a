import type { Caller } from "./context.ts";
import { isPlainMember, manages } from "./teams/team.rules.ts";

/** Limits of a key. */
export interface KeyReach {
  models: readonly string[] | null;
  expiresAt: Date | null;
  monthlyLimitMicros: number | null;
  dailyLimitMicros?: number | null;
  tokensPerMinute?: number | null;
}

type Limits = Pick<KeyReach, "monthlyLimitMicros" | "dailyLimitMicros" | "tokensPerMinute">;

/** Whether a key may spend or use less than its owner. */
export function isLimited({ monthlyLimitMicros, dailyLimitMicros, tokensPerMinute }: Limits): boolean {
  return monthlyLimitMicros !== null || dailyLimitMicros != null || tokensPerMinute != null;
}

/**
 * Whether one key may create, rotate or revoke another key of the same user. A shared key must not lead to a key with wider
 * access, or lock its owner out: a key with a model list or a limit manages only itself, and a key that expires manages
 * only keys that expire no later.
 */
export function mayManage(own: KeyReach & { keyId: string }, target: KeyReach & { keyId?: string }): boolean {
  if (own.keyId === target.keyId) return true;
  if (isConfined(own) || isLimited(own)) return false;
  return endsWith(own, target);
}

/** Whether a key may give a key it manages, itself included, this reach. */
export function mayWiden(own: KeyReach, target: KeyReach): boolean {
  return !isConfined(own) && !isLimited(own) && endsWith(own, target);
}

function endsWith({ expiresAt: end }: KeyReach, target: KeyReach): boolean {
  return end === null || (target.expiresAt !== null && target.expiresAt <= end);
}

/**
 * Whether a key may change prices and, for admins, other users. A key limited to models or with other limits may not: by changing
 * its owner's prices it could escape its budget. A replaced secret may not either. An expiry does not matter.
 */
export function mayAdministrate(own: KeyReach & { graceEndsAt: Date | null }): boolean {
  return own.models === null && !isLimited(own) && own.graceEndsAt === null;
}

type Models = Pick<KeyReach, "models">;

/** Whether a key is limited to some models. Such a key, usually of an application, sees only what it started. */
export function isConfined({ models }: Models): boolean {
  return models !== null;
}

/** Whether a caller gets links with which the owner of its key authorizes tool servers: that is managing. */
export function mayAuthorize(caller: Models & Pick<Caller, "graceEndsAt" | "team">): boolean {
  return !isConfined(caller) && caller.graceEndsAt === null && !isPlainMember(caller);
}

/** `name`: an endpoint id, or an agent as `agents/creator/slug`. */
export function keyReaches({ models }: Models, name: string): boolean {
  return models === null || models.includes(name);
}

/** What a caller sees of a user's predictions, runs, files and usage: all of it, or what some keys started. */
export interface Scope {
  userId: string;
  /** Null: all. */
  onlyKeyIds: KeyIds | null;
}

/** One key, or all that a member of a team ever had. They are read in SQL, because nothing limits how many were revoked. */
export type KeyIds = string | { readonly teamId: string; readonly memberId: string; readonly seatId: string };

/** For the server itself, and for admins. */
export function everythingOf(userId: string): Scope {
  return { userId, onlyKeyIds: null };
}

/** Key ids survive a rotation, so a rotated key sees what it started before. Plain members of a team see their own work. */
export function scopeOf(caller: Models & Pick<Caller, "userId" | "keyId" | "team">): Scope {
  const { userId, keyId, team } = caller;
  if (isConfined(caller)) return { userId, onlyKeyIds: keyId };
  if (team === null || manages(team.role)) return { userId, onlyKeyIds: null };
  return { userId, onlyKeyIds: { teamId: userId, memberId: team.member.userId, seatId: team.seatId } };
}
