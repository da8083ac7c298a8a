import { fault, type Loc } from "../../kernel/errors.ts";

/** Bytes of UTF-8 that fit into an index entry of the database. */
export const maxPathBytes = 1024;
export const maxNameBytes = 255;
/** Decomposed text is longer than its composed form, but not by more than this. */
const maxGivenLength = 4 * maxPathBytes;

/**
 * Normalises a path: absolute, without `.`, in Unicode's composed form, because systems type the same name differently. The
 * first slash is optional. Names are compared exactly and may contain any character but `/` and NUL. `..` is refused.
 */
function segmentsOf(given: string, loc: Loc): string[] {
  const refuse = (msg: string) => fault("value_error", msg, { loc });
  if (given.length > maxGivenLength) throw tooLong(`The path is longer than ${maxPathBytes} bytes`, maxPathBytes, loc);
  if (given.includes("\0")) throw refuse("The path contains a NUL character");
  if (!given.isWellFormed()) throw refuse("The path is not well-formed Unicode");
  const path = given.normalize("NFC").replace(/^\//, "");
  const segments = path === "" ? [] : path.split("/");
  for (const segment of segments) {
    if (segment === "") throw refuse("The path contains an empty name: // or a / at the end");
    if (segment === "..") throw refuse("The path must not contain ..");
    if (Buffer.byteLength(segment) > maxNameBytes) {
      throw tooLong(`A name in the path is longer than ${maxNameBytes} bytes`, maxNameBytes, loc);
    }
  }
  const names = segments.filter((segment) => segment !== ".");
  if (Buffer.byteLength(joined(names)) > maxPathBytes) {
    throw tooLong(`The path is longer than ${maxPathBytes} bytes`, maxPathBytes, loc);
  }
  return names;
}

export function filePath(given: string, loc: Loc = ["path"]): string {
  const segments = segmentsOf(given, loc);
  if (segments.length === 0) throw fault("value_error", "The path does not name a file", { loc });
  return joined(segments);
}

/** One slash at the end is ignored. */
export function directoryPath(given: string, loc: Loc = ["path"]): string {
  return joined(segmentsOf(given.replace(/(?<=[^/])\/$/, ""), loc));
}

/**
 * Path of a directory to delete. The root must be given as `/`: an empty variable or `.` must not delete everything. `root`
 * is how the caller writes it.
 */
export function treePath(given: string, loc: Loc = ["path"], root = "/"): string {
  const path = directoryPath(given, loc);
  if (path !== "/" || given === "/") return path;
  throw fault("value_error", `The path does not name a directory. Use ${root} for the whole drive.`, { loc });
}

/** Directories above a path without the root, outermost first. */
export function ancestorsOf(path: string): string[] {
  const ancestors: string[] = [];
  for (let at = path.indexOf("/", 1); at !== -1; at = path.indexOf("/", at + 1)) ancestors.push(path.slice(0, at));
  return ancestors;
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function joined(segments: readonly string[]): string {
  return `/${segments.join("/")}`;
}

function tooLong(msg: string, most: number, loc: Loc) {
  return fault("string_too_long", msg, { loc, ctx: { max_length: most } });
}
