import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";

const dayMillis = 86_400_000;

export interface TemporaryFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Closes and removes it; harmless after it was moved away. */
  discard(): Promise<void>;
}

/**
 * Where bodies are written until they are whole. A name carries the process that writes it, so that a starting process
 * removes what a dead one left and nothing of one that lives beside it. A process number may have been given away again
 * since: what is a day old goes too.
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

/** Tells this process from an earlier one of the same number: in a container each start has the number 1. */
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
