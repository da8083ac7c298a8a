import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ExportManifest } from "@gantry/wire";
import { afterAll, expect } from "vitest";
import type { Answer, CallOptions, GantryNode } from "../../support/gantry.ts";

const run = promisify(execFile);

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Json = any;

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

export interface Unpacked {
  folder: string;
  /** Everything, before it was unpacked. */
  text: string;
  names: string[];
  manifest: ExportManifest;
  list(name: string): Promise<Json[]>;
  bytes(path: string): Promise<Buffer>;
}

/** Exports and unpacks with the tools of the system. */
export async function unpack(response: Response): Promise<Unpacked> {
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/gzip");
  const folder = await mkdtemp(join(tmpdir(), "gantry-export-"));
  folders.push(folder);
  const archive = join(folder, "archive.tar.gz");
  await writeFile(archive, Buffer.from(await response.arrayBuffer()));
  const { stdout } = await run("tar", ["-tzf", archive]);
  await run("tar", ["-xzf", archive, "-C", folder]);
  const { stdout: text } = await run("gunzip", ["-c", archive], { encoding: "latin1", maxBuffer: 2 ** 28 });
  const bytes = (path: string) => readFile(join(folder, path));
  const manifest = JSON.parse((await bytes("manifest.json")).toString()) as ExportManifest;
  return {
    folder,
    text,
    names: stdout.trimEnd().split("\n"),
    manifest,
    bytes,
    async list(name) {
      const files = await Promise.all((manifest.lists[name]?.files ?? []).map(bytes));
      const lines = Buffer.concat(files).toString().split("\n").slice(0, -1);
      expect(lines).toHaveLength(manifest.lists[name]?.records ?? -1);
      return lines.map((line) => JSON.parse(line));
    },
  };
}

export function callsOf(gantry: GantryNode, key: string) {
  return async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const answer = await gantry.call(method, path, { key, ...options });
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer;
  };
}
