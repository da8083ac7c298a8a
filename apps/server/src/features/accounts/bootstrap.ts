import { newId } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import type { AccountsContext } from "./context.ts";
import {
  foreignKeyPair,
  type KeyPair,
  longestKey,
  newKeyPair,
  sameHash,
  shortestForeignKey,
} from "./key-format.rules.ts";
import { firstLinkMs, storeSignInLink } from "./sign-in-links.ts";
import { announceChange, findUser, insertKey, insertUser, reinstateAdmin, resetKey, selectPairs } from "./store.ts";

const adminName = "admin";
/** They own the built-in models; their names are reserved. */
const systemNames = ["gantry", "anthropic"];
const settingName = "admin_key";

interface AdminKeySetting {
  keyId: string;
  /** The hash of the GANTRY_ADMIN_KEY that was last put into force, in hex. */
  operatorKeyHash: string | null;
}

export interface Bootstrapped {
  adminId: string;
  /** The admin's key where this start made it. */
  newAdminKey: string | null;
  /** Of a link that signs the admin in to the console, where this start made the admin. */
  newSignInToken: string | null;
}

/**
 * Makes the users that every installation has, and the admin's key. Runs at every start of every node; a lock makes
 * one node do it and the others find it done.
 *
 *     no admin ──► admin with the operator's key, or with a random one (returned once, to be printed), and a sign-in link
 *     admin, another operator's key than the last one ──► that key replaces the admin's; the admin is reinstated
 *     admin, the same operator's key or none ──► nothing, but a warning where that key is not in force any more
 *
 * The last line compares with the operator's key that was put into force, not with the key as it is now: a key that
 * was rotated or revoked since must not come back with the next start. Who lost the printed key, or disabled the
 * admin, comes in again by setting another GANTRY_ADMIN_KEY.
 */
export async function bootstrap(context: AccountsContext, operatorKey: string | undefined): Promise<Bootstrapped> {
  const operatorPair = operatorKey === undefined ? undefined : checkedPair(operatorKey);
  const made = await context.database.transaction(async (tx) => {
    await lockBootstrap(tx);
    const now = context.clock.now();
    const system = { role: "system", plan: "unlimited", passwordHash: null, createdAt: now } as const;
    for (const username of systemNames) await insertUser(tx, { ...system, id: newId("user"), username });
    const admin = { id: newId("user"), username: adminName, role: "admin", plan: "unlimited" } as const;
    const created = await insertUser(tx, { ...admin, passwordHash: null, createdAt: now });
    const adminId = created ? admin.id : (await findUser(tx, adminName))?.id;
    if (adminId === undefined) throw new Error("the user admin is neither new nor there");
    const pair = operatorPair ?? (created ? newKeyPair() : undefined);
    if (pair) await putIntoForce(tx, adminId, pair, operatorPair !== undefined, now);
    const newAdminKey = created && !operatorPair && pair ? pair.key : null;
    const newSignInToken = created ? (await storeSignInLink(tx, adminId, now, firstLinkMs)).token : null;
    return { adminId, newAdminKey, newSignInToken };
  });
  context.forgetUser(made.adminId);
  if (operatorPair && !(await isInForce(context, operatorPair))) {
    context.log.warn(
      "GANTRY_ADMIN_KEY is not in force: since it was set that key was rotated or revoked, or the admin disabled. " +
        "Another value would be put into force",
    );
  }
  return made;
}

async function putIntoForce(tx: Sql, adminId: string, pair: KeyPair, isOperators: boolean, now: Date): Promise<void> {
  const operatorKeyHash = isOperators ? pair.hash.toString("hex") : null;
  const setting = await readSetting<AdminKeySetting>(tx, settingName);
  if (setting && setting.operatorKeyHash === operatorKeyHash) return;
  const keyId = setting?.keyId ?? newId("key");
  if (setting) {
    await resetKey(tx, keyId, pair);
    await reinstateAdmin(tx, adminId);
  } else {
    const unlimited = { models: null, expiresAt: null, monthlyLimitMicros: null, sessionEndsAt: null };
    const stored = { public: pair.public, secretHash: pair.hash };
    await insertKey(tx, { id: keyId, userId: adminId, name: adminName, createdAt: now, ...stored, ...unlimited });
  }
  await writeSetting(tx, settingName, { keyId, operatorKeyHash } satisfies AdminKeySetting);
  await announceChange(tx, adminId);
}

async function isInForce({ database }: AccountsContext, { public: publicPart, hash }: KeyPair): Promise<boolean> {
  const pairs = await selectPairs(database.sql, [publicPart]);
  return pairs.some(({ secretHash, validUntil }) => validUntil === null && sameHash(secretHash, hash));
}

/** A key that could not be sent in a header as it stands would lock the admin out. */
function checkedPair(operatorKey: string): KeyPair {
  if (operatorKey.length < shortestForeignKey || operatorKey.length > longestKey || !/^[!-~]+$/.test(operatorKey)) {
    throw new Error(
      `GANTRY_ADMIN_KEY must have ${shortestForeignKey} to ${longestKey} visible ASCII characters without spaces`,
    );
  }
  return foreignKeyPair(operatorKey);
}

/** Held to the end of the transaction, by one node at a time. */
export async function lockBootstrap(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('gantry.accounts.bootstrap'))`;
}

export async function readSetting<T>(sql: Sql, name: string): Promise<T | undefined> {
  const [row] = await sql<{ value: T }[]>`select value from settings where name = ${name}`;
  return row?.value;
}

export async function writeSetting(sql: Sql, name: string, value: Record<string, string | null>): Promise<void> {
  await sql`
    insert into settings (name, value) values (${name}, ${sql.json(value)})
    on conflict (name) do update set value = excluded.value`;
}
