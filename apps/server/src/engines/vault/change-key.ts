import type { Database, Transaction } from "../database/database.ts";
import { createAesVault } from "./aes-vault.ts";
import { findSecretKey, keyFilesOf, moveKey, newSecretKey, readKey, syncFolder, writeKey } from "./key-file.ts";
import { lockSealed, type Resealed, resealAll, whichOpens } from "./reseal.ts";

/** An arbitrary advisory lock id, the same in all processes. */
const lockKey = 7_242_002;
const deadlineMs = 6 * 3_600_000;

export interface KeyChange {
  database: Database;
  home: string;
  /** GANTRY_SECRET_KEY. If set, no key file is used and `next` is required. */
  given: string | undefined;
  /** GANTRY_NEW_SECRET_KEY. If unset, a key is created. */
  next: string | undefined;
  /** Rejects while a server runs on this database. */
  refuseServers(tx: Transaction): Promise<void>;
  /** Called last in the transaction. */
  onChanged(tx: Transaction, resealed: Resealed): Promise<void>;
  /** Continue although the present key cannot decrypt some texts. */
  leaveUnreadable: boolean;
}

/**
 * Re-encrypts everything with another key in one transaction. The database and the key file cannot change in one step, so
 * the file of the next key is written before the commit and renamed after it:
 *
 *     secret-key ──► both ──commit──► both ──rename──► secret-key
 *                      │               └─ killed here: the next key decrypts, the next start renames
 *                      └─ killed here: the present key decrypts, the next start sets the other aside
 *
 * A key file is removed only when nothing is encrypted with it.
 */
export async function changeKey(change: KeyChange): Promise<Resealed> {
  const { database, home, given } = change;
  if (given !== undefined && change.next === undefined) {
    throw new Error("Set GANTRY_NEW_SECRET_KEY to the key that replaces GANTRY_SECRET_KEY");
  }
  let done: Changed | undefined;
  try {
    await database.transaction(
      async (tx) => {
        done = await changeLocked(tx, change);
      },
      { deadlineMs },
    );
  } catch (error) {
    const settled = await settleKeyChange(change).catch(() => "unknown" as const);
    if (settled === "unknown") {
      const { present, next } = keyFilesOf(home);
      throw new Error(
        `${reasonOf(error)} The next start or rekey finds out whether the key was changed. ` +
          `Leave ${present} and ${next} in place.`,
        { cause: error },
      );
    }
    // Otherwise the commit took place and only its answer was lost.
    if (settled !== "changed") throw new Error(reasonOf(error), { cause: error });
  }
  if (!done) throw new Error("a transaction without a result");
  if (given === undefined) await takePlace(home, done.key);
  return done.resealed;
}

interface Changed {
  resealed: Resealed;
  key: Uint8Array;
}

async function changeLocked(tx: Transaction, change: KeyChange): Promise<Changed> {
  const { home, given, next } = change;
  await tx`set local lock_timeout = '10s'`;
  await lockKeys(tx);
  const [schema] = await tx<{ there: boolean }[]>`select to_regclass('nodes') is not null as there`;
  if (!schema?.there) throw new Error("This database does not contain Gantry tables");
  if (given === undefined) await settleLocked(tx, home);
  const files = keyFilesOf(home);
  const present = await findSecretKey(home, given);
  if (!present) throw new Error(`${files.present} does not exist. Set GANTRY_HOME or GANTRY_SECRET_KEY.`);
  const key = next === undefined ? newSecretKey() : Buffer.from(next, "base64");
  if (Buffer.compare(present, key) === 0) throw new Error("GANTRY_NEW_SECRET_KEY is already in use");
  await change.refuseServers(tx);
  await lockSealed(tx);
  if (given === undefined) {
    await writeKey(files.next, key);
    await syncFolder(home);
  }
  const resealed = await resealAll(tx, createAesVault(present), createAesVault(key));
  if (resealed.unreadable.size > 0 && !change.leaveUnreadable) throw new Error(unreadableText(resealed, given));
  await change.onChanged(tx, resealed);
  return { resealed, key };
}

/** Runs after the commit. A starting server may do the same concurrently. */
async function takePlace(home: string, key: Uint8Array): Promise<void> {
  const { present, next } = keyFilesOf(home);
  await moveKey(home, next, present).catch(async (error: unknown) => {
    const now = await readKey(present);
    if (!now || Buffer.compare(now, key) !== 0) throw error;
  });
}

function unreadableText({ changed, unreadable }: Resealed, given: string | undefined): string {
  const where = [...unreadable].map(([table, rows]) => `${rows} of ${table}`).join(", ");
  const key = given === undefined ? "The key in the file secret-key" : "GANTRY_SECRET_KEY";
  return changed === 0
    ? `${key} is not the key of this database: it cannot decrypt ${where}. Nothing was changed.`
    : `${key} cannot decrypt everything (not ${where}). Nothing was changed. Use --leave-unreadable to skip those.`;
}

/** For transactions that change keys or everything they encrypt. */
export async function lockKeys(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockKey})`;
}

/** Keeps the key unchanged during a backup. Outside a transaction, whose snapshot would block index builds. */
export async function whileKeyStays<T>(database: Database, work: () => Promise<T>): Promise<T> {
  return database.session(
    async (sql) => {
      await sql`select pg_advisory_lock_shared(${lockKey})`;
      return work();
    },
    { deadlineMs },
  );
}

type Settled = "nothing" | "changed" | "not changed";

/** Completes an interrupted key change before the key is loaded. Waits for one that is running. */
export async function settleKeyChange(where: Pick<KeyChange, "database" | "home" | "given">): Promise<Settled> {
  const { database, home, given } = where;
  if (given !== undefined || (await readKey(keyFilesOf(home).next)) === undefined) return "nothing";
  return database.transaction(
    async (tx) => {
      await lockKeys(tx);
      return settleLocked(tx, home);
    },
    { deadlineMs },
  );
}

async function settleLocked(tx: Transaction, home: string): Promise<Settled> {
  const files = keyFilesOf(home);
  const [present, next] = [await readKey(files.present), await readKey(files.next)];
  if (!next) return "nothing"; // another process was faster
  const after = createAesVault(next);
  const before = present && createAesVault(present);
  const right = await whichOpens(tx, before ? [before, after] : [after]);
  if (right === after) {
    await moveKey(home, files.next, files.present);
    return "changed";
  }
  // If neither key decrypts anything, either may be used; the next key is kept.
  await moveKey(home, files.next, files.abandoned);
  return "not changed";
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "55P03") {
    return "Something else works on this database (a server, a backup, another rekey): wait for it, or stop it.";
  }
  return error instanceof Error ? error.message : String(error);
}
