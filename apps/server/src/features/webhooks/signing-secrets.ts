import { randomBytes } from "node:crypto";
import type { Database, Sql, Transaction } from "../../engines/database/database.ts";
import type { Vault } from "../../engines/vault/vault.ts";
import type { Clock } from "../../kernel/clock.ts";
import { fault } from "../../kernel/errors.ts";
import { record } from "../audit/index.ts";
import { secretPrefix } from "./send-delivery.ts";

/** Secrets for Standard Webhooks. A user's first secret is created on demand. */
export interface SigningSecrets {
  /** Secrets that sign now, newest first, by user. */
  liveOf(userIds: readonly string[]): Promise<Map<string, SealedSecret[]>>;
  /** Skips secrets that the server's key cannot open. Throws if it opens none of several. */
  open(secrets: readonly SealedSecret[]): string[];
  /** Adds a secret. Earlier ones sign for another day. Returns all that sign now, newest first. */
  rotate(userId: string): Promise<string[]>;
}

const secretBytes = 32;
const overlapMs = 24 * 3_600_000;
/** Each secret signs every delivery. */
const maxLive = 10;

const contextOf = (userId: string, number: number) => `webhook-secret:${userId}:${number}`;

export function createSigningSecrets(deps: { database: Database; vault: Vault; clock: Clock }): SigningSecrets {
  const { database, vault, clock } = deps;

  const seal = (userId: string, number: number) =>
    vault.seal(secretPrefix + randomBytes(secretBytes).toString("base64"), contextOf(userId, number));

  function open(secrets: readonly SealedSecret[]): string[] {
    let failure: unknown;
    const opened = secrets.flatMap(({ userId, number, sealed }) => {
      try {
        return [vault.open(sealed, contextOf(userId, number))];
      } catch (error) {
        failure = error;
        return [];
      }
    });
    if (opened.length === 0 && failure !== undefined) {
      const msg =
        "The signing secrets were sealed with a key that this server does not have. Rotate them to create a new one.";
      throw fault("conflict", msg, { cause: failure });
    }
    return opened;
  }

  async function liveOf(userIds: readonly string[]): Promise<Map<string, SealedSecret[]>> {
    let rows = await selectLiveSecrets(database.sql, userIds, clock.now());
    const known = new Set(rows.map((row) => row.userId));
    const without = userIds.filter((userId) => !known.has(userId));
    if (without.length > 0) {
      // Of concurrent inserts one wins, and all read the winner's secret.
      for (const userId of without) await insertFirstSecret(database.sql, userId, seal(userId, 1), clock.now());
      rows = await selectLiveSecrets(database.sql, userIds, clock.now());
    }
    return Map.groupBy(rows, (row) => row.userId);
  }

  return {
    liveOf,
    open,
    async rotate(userId) {
      await liveOf([userId]);
      await database.transaction(async (tx) => {
        const now = clock.now();
        await replaceSecret(tx, userId, now, new Date(now.getTime() + overlapMs), (live, number) => {
          if (live >= maxLive) {
            throw fault(
              "conflict",
              `${maxLive} secrets are active. Try again when the oldest has expired, a day after its rotation.`,
            );
          }
          return seal(userId, number);
        });
        await record(tx, { action: "webhook_secret.rotate", object: { id: userId }, ownerId: userId });
      });
      return open((await liveOf([userId])).get(userId) ?? []);
    },
  };
}

export interface SealedSecret {
  userId: string;
  number: number;
  sealed: Uint8Array;
}

async function selectLiveSecrets(sql: Sql, userIds: readonly string[], now: Date): Promise<SealedSecret[]> {
  return sql<SealedSecret[]>`
    select user_id as "userId", number, sealed from webhook_secrets
    where user_id = any(${userIds as string[]}::text[]) and (expires_at is null or expires_at > ${now})
    order by user_id, number desc`;
}

async function insertFirstSecret(sql: Sql, userId: string, sealed: Uint8Array, now: Date): Promise<void> {
  await sql`
    insert into webhook_secrets (user_id, number, sealed, created_at)
    values (${userId}, 1, ${sealed as Buffer}, ${now}) on conflict do nothing`;
}

/** Adds a secret from `make`, sets the end of the newest one and deletes expired ones. Locks the user's rows: one must exist. */
async function replaceSecret(
  tx: Transaction,
  userId: string,
  now: Date,
  oldUntil: Date,
  make: (live: number, number: number) => Uint8Array,
): Promise<void> {
  await tx`select 1 from webhook_secrets where user_id = ${userId} order by number for update`;
  await tx`delete from webhook_secrets where user_id = ${userId} and expires_at <= ${now}`;
  const [found] = await tx<{ live: number; newest: number }[]>`
    select count(*)::int as live, coalesce(max(number), 0) as newest from webhook_secrets where user_id = ${userId}`;
  const { live = 0, newest = 0 } = found ?? {};
  const sealed = make(live, newest + 1);
  await tx`update webhook_secrets set expires_at = ${oldUntil} where user_id = ${userId} and expires_at is null`;
  await tx`
    insert into webhook_secrets (user_id, number, sealed, created_at)
    values (${userId}, ${newest + 1}, ${sealed as Buffer}, ${now})`;
}

/** Returns how many were deleted: fewer than the limit means that none are left. */
export async function deleteEndedSecrets(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from webhook_secrets where (user_id, number) in (
      select user_id, number from webhook_secrets where expires_at < ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
