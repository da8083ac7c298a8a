import type { AuditAction, AuditObjectType } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { actingAs, actingNow, actorIs, operator } from "./acting.ts";
import { changedFields, clipped, type Fields } from "./fields.rules.ts";

export interface AuditEntry {
  action: AuditAction;
  object: { id: string; name?: string | null | undefined };
  /** The user whose object it is; null: it belongs to the installation. */
  ownerId: string | null;
  /** All fields; those that are allowed and differ are recorded. */
  before?: Fields | undefined;
  after?: Fields | undefined;
}

const longestName = 300;

/**
 * Records an action in its transaction: neither exists without the other. Call it last, because it locks the end of the
 * chain until the transaction ends.
 */
export async function record(tx: Sql, { action, object, ownerId, before, after }: AuditEntry): Promise<void> {
  const { actor, source } = actingNow();
  const type = action.slice(0, action.indexOf(".")) as AuditObjectType;
  const entry = {
    action,
    actor: {
      type: actor.type,
      id: actor.id,
      username: actor.username,
      key_id: actor.keyId,
      key_public: actor.keyPublic,
      session: actor.session,
    },
    origin: source && {
      address: source.address,
      user_agent: source.userAgent && clipped(source.userAgent, longestName),
      request_id: source.requestId && clipped(source.requestId, longestName),
    },
    object: { type, id: clipped(object.id, longestName), name: object.name ? clipped(object.name, longestName) : null },
    owner: ownerId === null ? null : { id: ownerId, username: await usernameOf(tx, ownerId) },
    ...changedFields(type, before, after),
  };
  await tx`select append_audit(${JSON.stringify(entry)})`;
}

/**
 * For commands of an operator on the database. Returns false, without a record, if the schema is from before the log, or
 * not yet that of this version.
 */
export async function recordByOperator(tx: Sql, entry: Omit<AuditEntry, "ownerId">): Promise<boolean> {
  const [chain] = await tx<{ isThere: boolean }[]>`
    select to_regprocedure('append_audit(text)') is not null as "isThere"`;
  if (!chain?.isThere) return false;
  await actingAs({ actor: operator, source: null }, () => record(tx, { ...entry, ownerId: null }));
  return true;
}

/** For a user who is known by its id alone. */
export async function actorIsUser(tx: Sql, userId: string): Promise<void> {
  actorIs({ id: userId, username: await usernameOf(tx, userId) });
}

async function usernameOf(tx: Sql, userId: string): Promise<string | null> {
  const { actor } = actingNow();
  if (actor.id === userId) return actor.username;
  const [row] = await tx<{ username: string }[]>`select username from users where id = ${userId}`;
  return row?.username ?? null;
}
