import type { Database, Transaction } from "../database/database.ts";
import { createAesVault } from "./aes-vault.ts";
import { findSecretKey, keyFilesOf, moveKey, newSecretKey, readKey, syncFolder, writeKey } from "./key-file.ts";
import { lockSealed, type Resealed, resealAll, whichOpens } from "./reseal.ts";

/** Any number of its own; all processes must use the same. */
const lockKey = 7_242_002;
const deadlineMs = 6 * 3_600_000;

export interface KeyChange {
  database: Database;
  home: string;
  /** GANTRY_SECRET_KEY: then the key is in nobody's file, and `next` must be given. */
  given: string | undefined;
  /** GANTRY_NEW_SECRET_KEY. Without it one is made. */
  next: string | undefined;
  /** Rejects while a server runs on this database. */
  refuseServers(tx: Transaction): Promise<void>;
  /** Go on though there are texts that the present key does not open. */
  leaveUnreadable: boolean;
}

/**
 * Seals everything anew under another key: all of it or nothing, in one transaction. What is sealed and the key file
 * cannot change in the same instant, so the file of the next key is there before the commit and takes its place after it:
 *
 *     secret-key ──► both ──commit──► both ──rename──► secret-key
 *                      │               └─ lost here: the next key opens what is sealed, the next start renames
 *                      └─ lost here: the present key does, the next start puts the other one aside
 *
 * No file of a key is ever removed before it is certain that nothing is sealed under it.
 */
export async function changeKey(change: KeyChange): Promise<Resealed> {
  const { database, home, given } = change;
  if (given !== undefined && change.next === undefined) {
    throw new Error("Set GANTRY_NEW_SECRET_KEY to the key that shall take the place of GANTRY_SECRET_KEY");
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
        `${reasonOf(error)} Whether the key was changed is found out at the next start or rekey: ` +
          `leave ${present} and ${next} where they are.`,
        { cause: error },
      );
    }
    // Else the commit was not answered, but it took place.
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
  if (!schema?.there) throw new Error("This database holds no Gantry");
  if (given === undefined) await settleLocked(tx, home);
  const files = keyFilesOf(home);
  const present = await findSecretKey(home, given);
  if (!present) throw new Error(`There is no key in ${files.present}: set GANTRY_HOME, or GANTRY_SECRET_KEY`);
  const key = next === undefined ? newSecretKey() : Buffer.from(next, "base64");
  if (Buffer.compare(present, key) === 0) throw new Error("GANTRY_NEW_SECRET_KEY is the key that is in use already");
  await change.refuseServers(tx);
  await lockSealed(tx);
  if (given === undefined) {
    await writeKey(files.next, key);
    await syncFolder(home);
  }
  const resealed = await resealAll(tx, createAesVault(present), createAesVault(key));
  if (resealed.unreadable.size > 0 && !change.leaveUnreadable) throw new Error(unreadableText(resealed, given));
  return { resealed, key };
}

/** After the commit. Whoever starts at this moment may do the same. */
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
    ? `${key} is not the one that this database is sealed with: it opens nothing of ${where}. Nothing was changed.`
    : `${key} does not open everything (not ${where}). Nothing was changed; say --leave-unreadable to leave those as they are.`;
}

/** Held by whoever changes keys or all that they seal, until the transaction ends. */
export async function lockKeys(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockKey})`;
}

/**
 * Taken as a whole by whoever opens or keeps the key beside what it sealed: a backup. In no transaction, which would keep
 * a snapshot, for which an index that is being built would wait.
 */
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

/** Ends a change of the key that was cut off, before the key is loaded. Waits for one that is under way. */
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
  // Where neither opens anything it does not matter which one is used from now on; the next key stays in any case.
  await moveKey(home, files.next, files.abandoned);
  return "not changed";
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "55P03") {
    return "Something else works on this database (a server, a backup, another rekey): wait for it, or stop it.";
  }
  return error instanceof Error ? error.message : String(error);
}
