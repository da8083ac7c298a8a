import { newId, type RoleName } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { actingAs, operator, record } from "../audit/index.ts";
import type { AccountsContext } from "./context.ts";
import {
  foreignKeyPair,
  type KeyPair,
  longestKey,
  newKeyPair,
  sameHash,
  shortestForeignKey,
} from "./key-format.rules.ts";
import { selectPairs } from "./pair-store.ts";
import { firstLinkMs, storeSignInLink } from "./sign-in-links.ts";
import { announceChange, findUser, insertKey, insertUser, reinstateAdmin, resetKey } from "./store.ts";

/** The only user that a start creates, and GANTRY_ADMIN_KEY restores. */
export const adminName = "admin";
/** Owners of the built-in models. */
const systemNames = ["gantry", "anthropic"];
const settingName = "admin_key";

interface AdminKeySetting {
  keyId: string;
  /** Hash in hex of the last GANTRY_ADMIN_KEY that was applied. */
  operatorKeyHash: string | null;
}

export interface Bootstrapped {
  adminId: string;
  /** Set if this start created the admin's key. */
  newAdminKey: string | null;
  /** Token of a sign-in link, set if this start created the admin. */
  newSignInToken: string | null;
}

/**
 * Creates the system users, the admin and the admin's key. Runs at every start of every node, under a lock.
 *
 *     no admin ──► create it with GANTRY_ADMIN_KEY or a random key (returned once), and a sign-in link
 *     admin, new GANTRY_ADMIN_KEY ──► the key replaces the admin's key; the admin is enabled again
 *     admin, same GANTRY_ADMIN_KEY or not set ──► nothing, but a warning if that key no longer works
 *
 * The setting is compared with the last one that was applied, not with the current key: a rotated or revoked key must not
 * come back at the next start. An operator who lost access sets another GANTRY_ADMIN_KEY.
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
    if (adminId === undefined) throw new Error("user admin is missing after its insert");
    const pair = operatorPair ?? (created ? newKeyPair() : undefined);
    const appliedKey = pair && (await applyKey(tx, adminId, pair, operatorPair !== undefined, now));
    const newAdminKey = created && !operatorPair && pair ? pair.key : null;
    const getsLink = created && context.signIn.ways.has("link");
    const newSignInToken = getsLink ? (await storeSignInLink(tx, adminId, now, firstLinkMs)).token : null;
    await actingAs({ actor: operator, source: null }, () => recordStart(tx, adminId, created, appliedKey));
    return { adminId, newAdminKey, newSignInToken };
  });
  context.forgetUser(made.adminId);
  if (operatorPair && !(await isWorking(context, operatorPair))) {
    context.log.warn(
      "GANTRY_ADMIN_KEY does not work: the key was rotated or revoked, or the admin was disabled. " +
        "Set another value to restore access.",
    );
  }
  return made;
}

interface AppliedKey {
  id: string;
  public: string;
  isNew: boolean;
  /** What the admin was, if the key made it an active admin again. */
  reinstated: { role: RoleName; disabled: boolean } | undefined;
}

async function recordStart(tx: Sql, adminId: string, isNewAdmin: boolean, key: AppliedKey | undefined): Promise<void> {
  const admin = { object: { id: adminId, name: adminName }, ownerId: adminId };
  if (isNewAdmin) await record(tx, { action: "user.create", ...admin, after: { role: "admin", plan: "unlimited" } });
  if (!key) return;
  if (key.reinstated) {
    const after = { role: "admin", disabled: false };
    await record(tx, { action: "user.update", ...admin, before: key.reinstated, after });
  }
  const action = key.isNew ? "key.create" : "key.rotate";
  await record(tx, {
    action,
    object: { id: key.id, name: adminName },
    ownerId: adminId,
    after: { public: key.public },
  });
}

/** Undefined if this key was applied at an earlier start. */
async function applyKey(
  tx: Sql,
  adminId: string,
  pair: KeyPair,
  isOperators: boolean,
  now: Date,
): Promise<AppliedKey | undefined> {
  const operatorKeyHash = isOperators ? pair.hash.toString("hex") : null;
  const setting = await readSetting<AdminKeySetting>(tx, settingName);
  if (setting && setting.operatorKeyHash === operatorKeyHash) return undefined;
  const keyId = setting?.keyId ?? newId("key");
  let reinstated: AppliedKey["reinstated"];
  if (setting) {
    await resetKey(tx, keyId, pair);
    reinstated = await reinstateAdmin(tx, adminId);
  } else {
    const unlimited = { models: null, expiresAt: null, monthlyLimitMicros: null, sessionEndsAt: null };
    const stored = { public: pair.public, secretHash: pair.hash };
    await insertKey(tx, { id: keyId, userId: adminId, name: adminName, createdAt: now, ...stored, ...unlimited });
  }
  await writeSetting(tx, settingName, { keyId, operatorKeyHash } satisfies AdminKeySetting);
  await announceChange(tx, adminId);
  return { id: keyId, public: pair.public, isNew: !setting, reinstated };
}

async function isWorking({ database }: AccountsContext, { public: publicPart, hash }: KeyPair): Promise<boolean> {
  const pairs = await selectPairs(database.sql, [publicPart]);
  return pairs.some(({ secretHash, validUntil }) => validUntil === null && sameHash(secretHash, hash));
}

/** A key that cannot be sent in a header would lock the admin out. */
function checkedPair(operatorKey: string): KeyPair {
  if (operatorKey.length < shortestForeignKey || operatorKey.length > longestKey || !/^[!-~]+$/.test(operatorKey)) {
    throw new Error(
      `GANTRY_ADMIN_KEY must have ${shortestForeignKey} to ${longestKey} printable ASCII characters without spaces.`,
    );
  }
  return foreignKeyPair(operatorKey);
}

async function lockBootstrap(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('gantry.accounts.bootstrap'))`;
}

async function readSetting<T>(sql: Sql, name: string): Promise<T | undefined> {
  const [row] = await sql<{ value: T }[]>`select value from settings where name = ${name}`;
  return row?.value;
}

async function writeSetting(sql: Sql, name: string, value: Record<string, string | null>): Promise<void> {
  await sql`
    insert into settings (name, value) values (${name}, ${sql.json(value)})
    on conflict (name) do update set value = excluded.value`;
}
