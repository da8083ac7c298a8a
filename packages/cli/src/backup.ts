import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadTools, orPrintError, sizeOf } from "./server-tools.ts";

const mostNamed = 20;

export async function backup(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { "no-files": { type: "boolean" }, "no-keys": { type: "boolean" } },
    });
    const [target, ...more] = positionals;
    if (target === undefined || more.length > 0)
      throw new Error("Usage: gantry backup FILE|FOLDER [--no-files] [--no-keys]");
    const { tools, options } = await loadTools();
    const withBlobs = !values["no-files"];
    const withKeys = !values["no-keys"];
    // Such a name can only be a folder, also if it does not exist.
    const isFolder = /(^|\/)\.{0,2}$/.test(target);
    const made = await tools.backUp({ ...options, target: resolve(target), isFolder, withBlobs, withKeys });
    const files = withBlobs ? `${made.blobs} files (${sizeOf(made.blobBytes)})` : "no files";
    console.log(`${made.path}: ${made.rows} rows of ${made.tables} tables, ${files}`);
    console.log(
      made.keys.includes("secret-key")
        ? "The backup contains the key that decrypts stored credentials. Protect it like the server itself."
        : "The backup does not contain the key that decrypts stored credentials. Back up GANTRY_SECRET_KEY, or the " +
            "file secret-key in GANTRY_HOME, separately: without it the credentials are lost.",
    );
    if (made.missing.length === 0) return 0;
    printMissing(made.missing);
    return 3;
  });
}

function printMissing(missing: readonly string[]): void {
  console.error(
    `${missing.length} ${missing.length === 1 ? "file" : "files"} in the database could not be copied: missing or ` +
      "damaged in the file store. Everything else is in the backup.",
  );
  for (const key of missing.slice(0, mostNamed)) console.error(`  ${key}`);
  if (missing.length > mostNamed) console.error(`  and ${missing.length - mostNamed} more`);
}
