import { execFile } from "node:child_process";
import { access, constants, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * A home belongs to one user. Root would create files that the owner cannot read later, and any other user would fail
 * half-way. Call before anything is changed.
 */
export async function refuseForeignHome(home: string): Promise<void> {
  const self = process.getuid?.();
  if (self === undefined) return;
  const foreign = self === 0 ? await notRoots(home) : await notOwn(home, self);
  if (!foreign) return;
  const [theirs, mine] = [await nameOf(foreign.uid), await nameOf(self)];
  throw new Error(
    `${foreign.path} belongs to ${theirs}, but Gantry runs as ${mine}. ` +
      `Run Gantry as the owner, or change the owner as root: chown -R ${self} ${home}`,
  );
}

interface Foreign {
  path: string;
  uid: number;
}

/** The record shows who ran Gantry here. The data may belong to the account that root runs PostgreSQL as. */
async function notRoots(home: string): Promise<Foreign | undefined> {
  const hasData = (await ownerOf(join(home, "postgres"))) !== undefined;
  const [whole, recorded] = [await ownerOf(home), hasData ? await ownerOf(recordFileOf(home)) : undefined];
  const uid = recorded ?? whole;
  return uid === undefined || uid === 0 ? undefined : { path: uid === whole ? home : recordFileOf(home), uid };
}

/** The folder itself may belong to another user, if that user lets us in. */
async function notOwn(home: string, self: number): Promise<Foreign | undefined> {
  for (const path of [join(home, "lock"), recordFileOf(home), join(home, "postgres")]) {
    const uid = await ownerOf(path);
    if (uid !== undefined && uid !== self) return { path, uid };
  }
  const uid = (await isClosed(home)) ? await ownerOf(home) : undefined;
  return uid === undefined || uid === self ? undefined : { path: home, uid };
}

async function isClosed(folder: string): Promise<boolean> {
  return access(folder, constants.X_OK).then(
    () => false,
    ({ code }) => code === "EACCES" || code === "EPERM",
  );
}

async function ownerOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ uid }) => uid,
    () => undefined,
  );
}

async function nameOf(uid: number): Promise<string> {
  const name = await promisify(execFile)("id", ["-nu", String(uid)]).then(
    ({ stdout }) => stdout.trim(),
    () => "",
  );
  return name === "" ? `user ${uid}` : `user ${uid} (${name})`;
}

/** Stored in a file of mode 600 in the home. */
export interface ServerRecord {
  password: string;
  dataDir: string;
}

export const recordFileOf = (home: string): string => join(home, "postgres.json");

export async function readRecord(home: string): Promise<ServerRecord | undefined> {
  const file = recordFileOf(home);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const record = parsed(text);
  if (record) return record;
  throw new Error(`${file} is damaged. The file contains the password of the database. ${recordAdvice}`);
}

export const recordAdvice = "Restore the file from a copy of this home, or restore a backup into a new home.";

function parsed(text: string): ServerRecord | undefined {
  try {
    const { password, dataDir } = Object(JSON.parse(text)) as Record<string, unknown>;
    return typeof password === "string" && typeof dataDir === "string" ? { password, dataDir } : undefined;
  } catch {
    return undefined;
  }
}

/** Atomic, because without the password the data cannot be opened. */
export async function writeRecord(home: string, record: ServerRecord): Promise<void> {
  const file = recordFileOf(home);
  await writeFile(`${file}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}
