import { randomUUID } from "node:crypto";
import { constants, createWriteStream } from "node:fs";
import { copyFile, link, lstat, mkdir, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Refused } from "./copies.ts";

export interface LocalFile {
  path: string;
  /** Relative to the folder, with slashes. */
  name: string;
  size: number;
}

/** Files of a folder at all levels, in order of their names. */
export async function* filesIn(folder: string, above = ""): AsyncGenerator<LocalFile | Refused> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    const name = `${above}${entry.name}`;
    try {
      if (entry.isDirectory()) {
        yield* filesIn(path, `${name}/`);
        continue;
      }
      const found = await stat(path);
      if (found.isFile()) yield { path, name, size: found.size };
      // Following the link could lead back to this folder.
      else if (found.isDirectory()) yield refused(path, "is a link to a folder. Copy that folder by itself.");
      else yield refused(path, "is not a regular file.");
    } catch (error) {
      yield { label: path, error };
    }
  }
}

const refused = (label: string, why: string): Refused => ({ label, error: new Error(`${label} ${why}`) });

export async function isFolder(path: string): Promise<boolean> {
  return (await statIfAny(path))?.isDirectory() === true;
}

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function statIfAny(path: string) {
  return stat(path).catch(() => undefined);
}

/**
 * Writes a whole file or none: the bytes go to a file beside it, which then takes its name. A link keeps pointing to
 * its file, and a device or pipe gets the bytes directly. Without `replace`, a file that exists meanwhile is left
 * alone, and the answer is undefined.
 */
export async function writeWhole(
  target: string,
  body: AsyncIterable<Uint8Array> | Iterable<string> | ReadableStream<Uint8Array> | null,
  { replace, signal }: { replace: boolean; signal?: AbortSignal },
): Promise<number | undefined> {
  const found = await statIfAny(target);
  if (found?.isDirectory()) throw new Error(`${target} is a folder.`);
  const content = Readable.from((body ?? []) as Iterable<string>);
  const options = { ...(signal && { signal }) };
  if (replace && found?.isFile() === false) {
    const device = createWriteStream(target);
    await pipeline(content, device, options);
    return device.bytesWritten;
  }
  const own = replace && found ? await realpath(target) : target;
  await mkdir(dirname(own), { recursive: true });
  const part = join(dirname(own), `.gantry-${randomUUID()}.part`);
  const file = createWriteStream(part, { flags: "wx" });
  try {
    await pipeline(content, file, options);
    if (replace) await rename(part, own);
    else if (!(await placed(part, own))) return undefined;
    return file.bytesWritten;
  } catch (error) {
    // Messages name the file that the user knows.
    if ((error as NodeJS.ErrnoException).path === part) Object.assign(error as Error, { path: target });
    throw error;
  } finally {
    await rm(part, { force: true });
  }
}

/**
 * Unlike a rename, a link or an exclusive copy never replaces a file. File systems without hard links, such as FAT and
 * some network drives, refuse links with different errors. Node removes a copy that fails midway.
 */
async function placed(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_EXCL));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
