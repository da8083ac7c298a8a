import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadTools, orSayWhy, sizeOf } from "./server-tools.ts";

const mostNamed = 20;

export async function backup(args: readonly string[]): Promise<number> {
  return orSayWhy(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { "no-files": { type: "boolean" }, "no-keys": { type: "boolean" } },
    });
    const [target, ...more] = positionals;
    if (target === undefined || more.length > 0) throw new Error("Say where to: gantry backup FILE|FOLDER");
    const { tools, options } = await loadTools();
    const withBlobs = !values["no-files"];
    const withKeys = !values["no-keys"];
    // By its name alone it can be a folder only.
    const isFolder = /(^|\/)\.{0,2}$/.test(target);
    const made = await tools.backUp({ ...options, target: resolve(target), isFolder, withBlobs, withKeys });
    const files = withBlobs ? `${made.blobs} files (${sizeOf(made.blobBytes)})` : "no files";
    console.log(`${made.path}: ${made.rows} rows of ${made.tables} tables, ${files}`);
    console.log(
      made.keys.includes("secret-key")
        ? "It holds the key that opens stored credentials: keep it as safe as the server itself."
        : "It does not hold the key that opens stored credentials (GANTRY_SECRET_KEY, or the file secret-key in " +
            "GANTRY_HOME): keep that too, without it they are lost.",
    );
    if (made.missing.length === 0) return 0;
    sayMissing(made.missing);
    return 3;
  });
}

function sayMissing(missing: readonly string[]): void {
  console.error(
    `${missing.length} ${missing.length === 1 ? "file" : "files"} that the database speaks of could not be copied: ` +
      "the store does not have them, or has them damaged. Everything else is in the backup.",
  );
  for (const key of missing.slice(0, mostNamed)) console.error(`  ${key}`);
  if (missing.length > mostNamed) console.error(`  and ${missing.length - mostNamed} more`);
}
