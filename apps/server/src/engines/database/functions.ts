import { createHash } from "node:crypto";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "./database.ts";

/** The text of all SQL functions: the files `sql/*.sql` of the features, in the order of their paths. */
async function readFunctions(dir: string): Promise<string> {
  const paths = (await Array.fromAsync(glob("*/sql/*.sql", { cwd: dir }))).sort();
  const texts = await Promise.all(paths.map((path) => readFile(join(dir, path), "utf8")));
  return texts.join("\n");
}

/** Replaces the SQL functions by their current text, in one transaction, where it differs from the one in the database. */
export async function applyFunctions(database: Database, dir: string): Promise<void> {
  const text = await readFunctions(dir);
  const hash = createHash("sha256").update(text).digest("hex");
  await database.transaction(async (tx) => {
    await tx`create table if not exists schema_functions (hash text not null)`;
    const [row] = await tx<{ hash: string }[]>`select hash from schema_functions`;
    if (row?.hash === hash) return;
    // Functions refer to each other in a circle of files.
    await tx`set local check_function_bodies = off`;
    await tx.unsafe(text);
    await tx`delete from schema_functions`;
    await tx`insert into schema_functions (hash) values (${hash})`;
  });
}
