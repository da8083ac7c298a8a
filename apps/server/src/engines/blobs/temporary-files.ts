import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";

const dayMillis = 86_400_000;

export interface TemporaryFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Closes and removes the file, if it was not moved. */
  discard(): Promise<void>;
}

/**
 * Files for incomplete bodies. Names contain the process id, so that a starting process removes the files of dead ones
 * only. Process ids are reused, so files older than a day are removed too.
 */
export async function openTemporaryFiles(directory: string): Promise<{ create(): Promise<TemporaryFile> }> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (isAbandoned(name) || (await isOld(path))) await unlink(path).catch(() => {});
  }
  return {
    async create() {
      const path = join(directory, `${process.pid}-${ownMark}-${randomBytes(8).toString("hex")}`);
      const handle = await open(path, "wx+", 0o600);
      const discard = async () => {
        await handle.close().catch(() => {});
        await unlink(path).catch(() => {});
      };
      return { path, handle, discard };
    },
  };
}

/** Distinguishes this process from an earlier one with the same id: in a container the id is always 1. */
const ownMark = randomBytes(4).toString("hex");

function isAbandoned(name: string): boolean {
  const [pid = "", mark] = name.split("-");
  if (!/^[1-9]\d*$/.test(pid)) return true;
  if (Number(pid) === process.pid) return mark !== ownMark;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > dayMillis;
}
