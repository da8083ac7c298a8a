import { existsSync, statSync } from "node:fs";
import { join, parse } from "node:path";
import { writeWhole } from "../drives/local-files.ts";
import type { Context } from "../frame/command.ts";
import { Failure, wrongArguments } from "../frame/failure.ts";
import type { Output } from "../frame/output.ts";

/** Where results go: a folder, a file, or stdout for `-`. */
export interface Place {
  kind: "folder" | "file" | "stdout";
  path: string;
  /** Whether `--out` was given. */
  isGiven: boolean;
  mayReplace: boolean;
}

/** Where `--out` puts the files of a result. */
export function placeOfResult({ text, flag, out }: Pick<Context, "text" | "flag" | "out">): Place {
  if (flag("json") && text("out") === "-") {
    throw wrongArguments("--json needs a file: --out - writes the result to stdout.");
  }
  return placeOf(text("out"), flag("force"), out);
}

/** Checked before the work is paid for. */
export function placeOf(given: string | undefined, mayReplace: boolean, out: Output): Place {
  if (given === "-") {
    if (out.isTerminal && !mayReplace)
      throw wrongArguments("Binary output would garble the terminal. Use a pipe, or --out FILE.");
    return { kind: "stdout", path: "-", isGiven: true, mayReplace };
  }
  const path = given ?? ".";
  const isFolder = /[/\\]$/.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder && !existsSync(path)) throw wrongArguments(`Folder ${path} does not exist. Create it first.`);
  if (!isFolder && existsSync(path) && !mayReplace)
    throw wrongArguments(`${path} already exists. Add --force to replace it.`);
  const parent = parse(path).dir || ".";
  if (!isFolder && !existsSync(parent)) throw wrongArguments(`Folder ${parent} does not exist. Create it first.`);
  return { kind: isFolder ? "folder" : "file", path, isGiven: given !== undefined, mayReplace };
}

/** Writes content to its place and returns the path. Files in a folder get a free name; a given file keeps its own. */
export async function store(
  { kind, path, mayReplace }: Place,
  { name, position }: { name: string; position: number },
  content: AsyncIterable<Uint8Array> | string,
  out: Output,
): Promise<string | undefined> {
  if (kind === "stdout") {
    if (typeof content === "string") await out.text(content);
    else for await (const chunk of content) await out.bytes(chunk);
    return undefined;
  }
  const wanted = kind === "folder" ? join(path, name) : numbered(path, position);
  const target = mayReplace || kind === "file" ? wanted : freePath(wanted);
  const written = await writeWhole(target, typeof content === "string" ? [content] : content, { replace: mayReplace });
  if (written === undefined) throw new Failure(`${target} already exists. Add --force to replace it.`);
  return target;
}

/** The second file of a result is `picture-2.png` beside `picture.png`. */
function numbered(path: string, position: number): string {
  if (position === 0) return path;
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}-${position + 1}${ext}`);
}

function freePath(path: string): string {
  const { dir, name, ext } = parse(path);
  let free = path;
  for (let n = 2; existsSync(free); n++) free = join(dir, `${name}-${n}${ext}`);
  return free;
}

/** A safe name for a file of a result: its field, its number in a list, and the ending of the stored file. */
export function nameOfFile(field: string, address: string): string {
  const [ending = ""] = /\.[a-z0-9]{1,8}$/i.exec(address.replace(/[?#].*$/s, "")) ?? [];
  return `${field.replace(/[^\w-]+/g, "-")}${ending}`;
}
