import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { printBooks } from "./ledger.ts";
import { loadTools, orPrintError, sizeOf } from "./server-tools.ts";

export async function restore(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { replace: { type: "boolean" } },
    });
    const [source, ...more] = positionals;
    if (source === undefined || more.length > 0) throw new Error("Usage: gantry restore FILE [--replace]");
    const { tools, options } = await loadTools();
    const replace = values.replace ?? false;
    const { books, opensSealed, ...done } = await tools.restore({ ...options, source: resolve(source), replace });
    console.log(
      `Restored the backup of ${done.madeAt}: ${done.rows} rows of ${done.tables} tables, ` +
        `${done.blobs} files (${sizeOf(done.blobBytes)})`,
    );
    if (done.removed > 0) console.log(`Removed ${filesOf(done.removed)} of the replaced installation`);
    if (done.left > 0) {
      console.error(
        `Could not remove ${filesOf(done.left)} of the replaced installation. They stay in the file store.`,
      );
    }
    if (!done.keys.includes("secret-key") && !opensSealed) {
      console.log(
        "The backup contains no secret key. Set GANTRY_SECRET_KEY to the old key before you start the server.",
      );
    }
    if (options.config.S3_BUCKET === undefined && !done.keys.includes("link-signing-key.json")) {
      console.log(
        "The backup contains no key that signs file links. Links issued before stop working, unless this home has the key.",
      );
    }
    return printBooks({ ...books, sum: books.sum / 1_000_000 });
  });
}

const filesOf = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
