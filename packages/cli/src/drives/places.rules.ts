import { join, resolve, sep } from "node:path";

/** A file or folder on this machine, or a path of a drive. */
export type Place = { kind: "local"; path: string } | DrivePlace;

export interface DrivePlace {
  kind: "drive";
  /** An id or a name. */
  drive: string;
  /** Absolute, without a slash at the end. `/` is the whole drive. */
  path: string;
  /** Written with a slash at the end: a directory, even if it does not exist yet. */
  isDirectory: boolean;
}

/** As scp decides: `drive:path`, unless a slash comes before the colon. `./a:b` is a local file. */
export function placeOf(text: string): Place {
  const at = text.indexOf(":");
  if (at <= 0 || text.slice(0, at).includes("/")) return { kind: "local", path: text };
  return drivePlace(text.slice(0, at), text.slice(at + 1));
}

/** For commands that only know drives: the colon is optional. */
export function drivePlaceOf(text: string): DrivePlace {
  const at = text.indexOf(":");
  return at === -1 ? drivePlace(text, "") : drivePlace(text.slice(0, at), text.slice(at + 1));
}

function drivePlace(drive: string, given: string): DrivePlace {
  const names = given.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) throw new RangeError(`The path ${given} must not contain "..".`);
  return {
    kind: "drive",
    drive,
    path: `/${names.join("/")}`,
    isDirectory: names.length === 0 || given.endsWith("/"),
  };
}

/** The path of `name`, which may contain slashes, in a directory of a drive. */
export const inDirectory = (directory: string, name: string): string => `${directory === "/" ? "" : directory}/${name}`;

export const lastName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/**
 * Where a file of a drive belongs in a local folder. A server could name files so that they end up anywhere on this
 * machine: every name must be a plain one, below the directory that was asked for.
 */
export function localTarget(folder: string, directory: string, path: string): string {
  const above = directory === "/" ? "/" : `${directory}/`;
  if (!path.startsWith(above)) throw unsafe(path);
  const names = path.slice(above.length).split("/");
  if (names.some((name) => !isPlainName(name))) throw unsafe(path);
  const target = join(folder, ...names);
  const root = resolve(folder);
  if (!resolve(target).startsWith(root.endsWith(sep) ? root : root + sep)) throw unsafe(path);
  return target;
}

function isPlainName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !name.includes("\0") && !name.includes(sep);
}

const unsafe = (path: string) =>
  new RangeError(`${JSON.stringify(path)} is not a safe name for a local file. The file was not copied.`);
