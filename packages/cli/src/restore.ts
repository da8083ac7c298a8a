import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { sayBooks } from "./ledger.ts";
import { loadTools, orSayWhy, sizeOf } from "./server-tools.ts";

export async function restore(args: readonly string[]): Promise<number> {
  return orSayWhy(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { replace: { type: "boolean" } },
    });
    const [source, ...more] = positionals;
    if (source === undefined || more.length > 0) throw new Error("Say from where: gantry restore FILE");
    const { tools, options } = await loadTools();
    const replace = values.replace ?? false;
    const { books, opensSealed, ...done } = await tools.restore({ ...options, source: resolve(source), replace });
    console.log(
      `Restored the backup of ${done.madeAt}: ${done.rows} rows of ${done.tables} tables, ` +
        `${done.blobs} files (${sizeOf(done.blobBytes)})`,
    );
    if (done.removed > 0) console.log(`Removed ${filesOf(done.removed)} that only the replaced installation knew`);
    if (done.left > 0) {
      console.error(
        `Could not remove ${filesOf(done.left)} of the replaced installation: they stay in the file store.`,
      );
    }
    if (!done.keys.includes("secret-key") && !opensSealed) {
      console.log("The backup holds no secret key: give this server the old one (GANTRY_SECRET_KEY) before it starts.");
    }
    if (options.config.S3_ENDPOINT === undefined && !done.keys.includes("link-signing-key.json")) {
      console.log(
        "The backup holds no key of links to files: links that were given out before end, unless this home has their key.",
      );
    }
    return sayBooks({ ...books, sum: books.sum / 1_000_000 });
  });
}

const filesOf = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
