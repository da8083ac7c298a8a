import { execFile } from "node:child_process";
import { access, constants, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * A home belongs to one user. Root gets past every mode and would leave things behind that the owner does not get past,
 * so it is no owner of what is another's; any other user would find out half-way, at the first part that is closed to it.
 * Called before anything is touched.
 */
export async function refuseHomeOfAnother(home: string): Promise<void> {
  const self = process.getuid?.();
  if (self === undefined) return; // where files have no such owners
  const foreign = self === 0 ? await notRoots(home) : await notOwn(home, self);
  if (!foreign) return;
  const [theirs, mine] = [await nameOf(foreign.uid), await nameOf(self)];
  throw new Error(
    `${foreign.path} belongs to ${theirs}, and this runs as ${mine}. ` +
      `Run it as that user; or give all of it to this one, as root: chown -R ${self} ${home}`,
  );
}

interface Foreign {
  path: string;
  uid: number;
}

/**
 * Whose Gantry has worked here is told by the record, which it writes itself; the data may be of the account that root
 * runs the server as. Where there is no data yet, the folder is all there is to go by.
 */
async function notRoots(home: string): Promise<Foreign | undefined> {
  const hasData = (await ownerOf(join(home, "postgres"))) !== undefined;
  const [whole, recorded] = [await ownerOf(home), hasData ? await ownerOf(recordFileOf(home)) : undefined];
  const uid = recorded ?? whole;
  return uid === undefined || uid === 0 ? undefined : { path: uid === whole ? home : recordFileOf(home), uid };
}

/** The folder itself may be another's, if that lets us in. */
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

/** What is kept about the server beside its data, in a file of mode 600. */
export interface ServerRecord {
  password: string;
  dataDir: string;
}

export const recordFileOf = (home: string): string => join(home, "postgres.json");

/** Undefined where there is none. */
export async function readRecord(home: string): Promise<ServerRecord | undefined> {
  const file = recordFileOf(home);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const record = parsed(text);
  if (record) return record;
  throw new Error(`${file} is damaged: it holds the password of the database of this home. ${wayOut}`);
}

export const wayOut = "Put the file back from a copy of this home, or restore a backup into a new one.";

function parsed(text: string): ServerRecord | undefined {
  try {
    const { password, dataDir } = Object(JSON.parse(text)) as Record<string, unknown>;
    return typeof password === "string" && typeof dataDir === "string" ? { password, dataDir } : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all: a password that is lost locks us out of the data. */
export async function writeRecord(home: string, record: ServerRecord): Promise<void> {
  const file = recordFileOf(home);
  await writeFile(`${file}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}
