import { resolve } from "node:path";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { sizeOf } from "../frame/format.rules.ts";
import type { Output } from "../frame/output.ts";
import { withTools } from "../server-tools.ts";

const mostNamed = 20;

export function backup({ words: [target = ""], flag, out }: Context): Promise<number> {
  return withTools(async (tools, options) => {
    const withBlobs = !flag("no-files");
    const withKeys = !flag("no-keys");
    // Such a name can only be a folder, also if it does not exist.
    const isFolder = /(^|\/)\.{0,2}$/.test(target);
    const made = await tools.backUp({ ...options, target: resolve(target), isFolder, withBlobs, withKeys });
    const code = made.missing.length === 0 ? exitCodes.done : exitCodes.partly;
    if (flag("json")) {
      const { blobs: files, blobBytes: file_bytes, leftOut: left_out, path, rows, tables, keys, missing } = made;
      out.json({ path, rows, tables, files, file_bytes, keys, missing, left_out });
      return code;
    }
    const files = withBlobs ? `${made.blobs} files (${sizeOf(made.blobBytes)})` : "no files";
    out.line(`${made.path}: ${made.rows} rows of ${made.tables} tables, ${files}`);
    out.line(
      made.keys.includes("secret-key")
        ? "The backup contains the key that decrypts stored credentials. Protect it like the server itself."
        : "The backup does not contain the key that decrypts stored credentials. Back up GANTRY_SECRET_KEY, or the " +
            "file secret-key in GANTRY_HOME, separately: without it the credentials are lost.",
    );
    if (made.missing.length > 0) printMissing(out, made.missing);
    return code;
  });
}

function printMissing(out: Output, missing: readonly string[]): void {
  out.note(
    `${missing.length} ${missing.length === 1 ? "file" : "files"} in the database could not be copied: missing or ` +
      "damaged in the file store. Everything else is in the backup.",
  );
  for (const key of missing.slice(0, mostNamed)) out.note(`  ${key}`);
  if (missing.length > mostNamed) out.note(`  and ${missing.length - mostNamed} more`);
}
