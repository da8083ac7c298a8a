import { createHash } from "node:crypto";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sql } from "./database.ts";

export interface SqlFunctions {
  files: { path: string; sql: string }[];
  hash: string;
}

/** `sql/*.sql` of each feature, sorted by path. */
export async function readFunctions(dir: string): Promise<SqlFunctions> {
  const paths = (await Array.fromAsync(glob("*/sql/*.sql", { cwd: dir }))).sort();
  const files = await Promise.all(paths.map(async (path) => ({ path, sql: await readFile(join(dir, path), "utf8") })));
  return { files, hash: createHash("sha256").update(JSON.stringify(files)).digest("hex") };
}

export async function areApplied(sql: Sql, { hash }: SqlFunctions): Promise<boolean> {
  const [row] = await sql<{ hash: string }[]>`select hash from schema_functions`;
  return row?.hash === hash;
}

export async function replaceFunctions(tx: Sql, { files, hash }: SqlFunctions): Promise<void> {
  // A function may call one from a later file.
  await tx`set local check_function_bodies = off`;
  for (const { path, sql } of files) {
    await tx.unsafe(sql).catch((error: unknown) => {
      if (error instanceof Error) error.message = `${path}: ${error.message}`;
      throw error;
    });
  }
  await tx`delete from schema_functions`;
  await tx`insert into schema_functions (hash) values (${hash})`;
}
