import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Drives, GantryError } from "@gantry/sdk";
import { Failure } from "../frame/failure.ts";
import type { Copy, Refused } from "./copies.ts";
import { exists, filesIn, isFolder, writeWhole } from "./local-files.ts";
import { inDirectory, lastName, localTarget } from "./places.rules.ts";

export interface CopyOptions {
  recursive: boolean;
  /** Whether files that exist are replaced. */
  replace: boolean;
  signal: AbortSignal;
}

/** A path of a drive whose id is known. */
export interface DrivePath {
  id: string;
  path: string;
}

/** Above this size it pays to ask first whether the file exists. */
const largeBytes = 1_000_000;

export const isMissing = (error: unknown): boolean => error instanceof GantryError && error.status === 404;

export async function isDirectory(drives: Drives, { id, path }: DrivePath, signal: AbortSignal): Promise<boolean> {
  if (path === "/") return true;
  try {
    await drives.items(id, { path, limit: 1, signal });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Responses to HEAD have no body that would say what is missing. */
export async function sizeOfFile(drives: Drives, { id, path }: DrivePath, signal?: AbortSignal): Promise<number> {
  try {
    return (await drives.files.head(id, path, { signal })).size;
  } catch (error) {
    throw isMissing(error) ? new Failure(`${path} does not exist on the drive.`) : error;
  }
}

/** From this machine to a drive. `into`: the target is a directory that gets the file or folder under its own name. */
export async function* uploads(
  drives: Drives,
  source: string,
  target: DrivePath & { into: boolean },
  options: CopyOptions,
): AsyncGenerator<Copy | Refused> {
  const found = await stat(source);
  const to = target.into ? inDirectory(target.path, basename(join(process.cwd(), source))) : target.path;
  if (!found.isDirectory()) {
    yield upload(drives, { path: source, size: found.size }, { id: target.id, path: to }, options);
    return;
  }
  if (!options.recursive) {
    yield { label: source, error: new Error(`${source} is a folder. Add -r to copy it.`) };
    return;
  }
  for await (const file of filesIn(source)) {
    if ("error" in file) yield file;
    else yield upload(drives, file, { id: target.id, path: inDirectory(to, file.name) }, options);
  }
}

function upload(
  drives: Drives,
  file: { path: string; size: number },
  { id, path }: DrivePath,
  { replace }: CopyOptions,
): Copy {
  return {
    label: file.path,
    async run(signal) {
      const content = await openAsBlob(file.path);
      return write(drives, { id, path }, { content: () => content, size: content.size, replace, signal });
    },
  };
}

interface Writing {
  content(): Blob | ReadableStream<Uint8Array> | Promise<Blob | ReadableStream<Uint8Array>>;
  size: number;
  replace: boolean;
  signal: AbortSignal;
}

/** Creates the file, or replaces it. The two are different calls of the API. */
async function write(
  { files }: Drives,
  { id, path }: DrivePath,
  { content, size, replace, signal }: Writing,
): Promise<number | undefined> {
  const isThere = size > largeBytes && (await isFile(files, { id, path }, signal));
  if (!isThere) {
    try {
      await files.upload(id, path, await content(), { signal });
      return size;
    } catch (error) {
      // The path may also be a directory, or below a file.
      if (!(error instanceof GantryError && error.type === "conflict" && (await isFile(files, { id, path }, signal))))
        throw error;
    }
  }
  if (!replace) return undefined;
  await files.replace(id, path, await content(), { signal });
  return size;
}

async function isFile(files: Drives["files"], { id, path }: DrivePath, signal: AbortSignal): Promise<boolean> {
  try {
    await files.head(id, path, { signal });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** From a drive to this machine. */
export function downloads(
  drives: Drives,
  source: DrivePath,
  target: { path: string; into: boolean },
  options: CopyOptions,
): AsyncGenerator<Copy | Refused> {
  return eachFile(drives, source, options, (file, directory) => {
    const isRoot = directory === "/";
    const folder = target.into && !isRoot ? localTarget(target.path, parentOf(directory), directory) : target.path;
    // A single file has its own path as the directory.
    const to = file.path === directory ? folder : localTarget(folder, directory, file.path);
    return {
      label: file.path,
      async run(signal) {
        if (!options.replace && (await exists(to))) return undefined;
        const { body } = await drives.files.download(source.id, file.path, { signal });
        return writeWhole(to, body, { replace: options.replace, signal });
      },
    };
  });
}

/** From one drive to another, or within a drive, through this machine. */
export function transfers(
  drives: Drives,
  source: DrivePath,
  target: DrivePath & { into: boolean },
  options: CopyOptions,
): AsyncGenerator<Copy | Refused> {
  return eachFile(drives, source, options, (file, directory) => {
    const to = target.into && directory !== "/" ? inDirectory(target.path, lastName(directory)) : target.path;
    const path =
      file.path === directory ? to : inDirectory(to, file.path.slice(directory === "/" ? 1 : directory.length + 1));
    return {
      label: file.path,
      async run(signal) {
        if (source.id === target.id && path === file.path) throw new Error(`${path} would be copied onto itself.`);
        const content = async () => {
          const { body } = await drives.files.download(source.id, file.path, { signal });
          return body ?? new Blob([]);
        };
        return write(drives, { id: target.id, path }, { content, size: file.size, replace: options.replace, signal });
      },
    };
  });
}

const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf("/")));

/** The file, or the files of the directory. */
async function* eachFile(
  drives: Drives,
  { id, path }: DrivePath,
  { recursive, signal }: CopyOptions,
  copyOf: (file: { path: string; size: number }, directory: string) => Copy,
): AsyncGenerator<Copy | Refused> {
  if (!(await isDirectory(drives, { id, path }, signal))) {
    const size = await sizeOfFile(drives, { id, path }, signal);
    yield copyOf({ path, size }, path);
    return;
  }
  if (!recursive) {
    yield { label: path, error: new Error(`${path} is a directory. Add -r to copy it.`) };
    return;
  }
  for await (const item of drives.eachItem(id, { path, recursive: true, signal })) {
    if (item.type !== "file") continue;
    try {
      yield copyOf(item, path);
    } catch (error) {
      // A name that this machine cannot have.
      yield { label: item.path, error };
    }
  }
}

/** As cp decides: into a directory that exists or is written with a slash, otherwise under the new name. */
export async function isInto(
  drives: Drives,
  target: DrivePath & { isDirectory: boolean },
  sources: number,
  signal: AbortSignal,
): Promise<boolean> {
  return sources > 1 || target.isDirectory || (await isDirectory(drives, target, signal));
}

export async function isIntoFolder(path: string, sources: number): Promise<boolean> {
  return sources > 1 || path.endsWith("/") || (await isFolder(path));
}
