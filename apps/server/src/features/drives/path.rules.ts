import { fault, type Loc } from "../../kernel/errors.ts";

/** In bytes of UTF-8: what an index entry of the database can hold, and what a file system could. */
export const maxPathBytes = 1024;
export const maxNameBytes = 255;
/** Decomposed characters are longer than what they become; beyond this nothing becomes short enough. */
const maxGivenLength = 4 * maxPathBytes;

/**
 * The one spelling of a path: absolute, `/` between names, without `.`, in Unicode's composed form (a name typed on one
 * system is then the name typed on another). A slash at the beginning may be left out. Names are compared exactly; every
 * character but `/` and NUL may stand in one. Nothing leads upwards: `..` is refused and never resolved.
 */
function segmentsOf(given: string, loc: Loc): string[] {
  const refuse = (msg: string) => fault("value_error", msg, { loc });
  if (given.length > maxGivenLength) throw tooLong(`The path is longer than ${maxPathBytes} bytes`, maxPathBytes, loc);
  if (given.includes("\0")) throw refuse("The path has a NUL character");
  if (!given.isWellFormed()) throw refuse("The path is no well-formed Unicode text");
  const path = given.normalize("NFC").replace(/^\//, "");
  const segments = path === "" ? [] : path.split("/");
  for (const segment of segments) {
    if (segment === "") throw refuse("The path has an empty name: // or / at its end");
    if (segment === "..") throw refuse("The path must not have .. in it");
    if (Buffer.byteLength(segment) > maxNameBytes) {
      throw tooLong(`A name in the path is longer than ${maxNameBytes} bytes`, maxNameBytes, loc);
    }
  }
  const named = segments.filter((segment) => segment !== ".");
  if (Buffer.byteLength(joined(named)) > maxPathBytes) {
    throw tooLong(`The path is longer than ${maxPathBytes} bytes`, maxPathBytes, loc);
  }
  return named;
}

/** Of a file: it has a name, so the root is none. */
export function filePath(given: string, loc: Loc = ["path"]): string {
  const segments = segmentsOf(given, loc);
  if (segments.length === 0) throw fault("value_error", "The path names no file", { loc });
  return joined(segments);
}

/** Of a directory: one slash at its end does not matter. */
export function directoryPath(given: string, loc: Loc = ["path"]): string {
  return joined(segmentsOf(given.replace(/(?<=[^/])\/$/, ""), loc));
}

/**
 * Of a directory that is to go with all that it holds. The root must be said as `/`: what only comes to it, as `.` does or
 * somebody's variable that was empty, names nothing. `root` is how the caller writes it.
 */
export function treePath(given: string, loc: Loc = ["path"], root = "/"): string {
  const path = directoryPath(given, loc);
  if (path !== "/" || given === "/") return path;
  throw fault("value_error", `The path names no directory; ${root} is the whole drive`, { loc });
}

/** The directories that a path lies in, the root left out, the outermost first. */
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
