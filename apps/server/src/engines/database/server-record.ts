import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

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
