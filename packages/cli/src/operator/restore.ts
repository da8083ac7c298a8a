import { resolve } from "node:path";
import type { Context } from "../frame/command.ts";
import { sizeOf } from "../frame/format.rules.ts";
import type { Output } from "../frame/output.ts";
import { type Tools, withTools } from "../server-tools.ts";
import { codeOf, printBooks } from "./ledger.ts";

export function restore({ words: [source = ""], flag, out }: Context): Promise<number> {
  return withTools(async (tools, options) => {
    const restored = await tools.restore({ ...options, source: resolve(source), replace: flag("replace") });
    const books = { ...restored.books, sum: restored.books.sum / 1_000_000 };
    if (flag("json")) {
      const { madeAt: made_at, blobs: files, blobBytes: file_bytes, leftOut: left_out, ...rest } = restored;
      const { rows, tables, removed, left, keys, opensSealed: opens_secrets } = rest;
      out.json({ made_at, rows, tables, files, file_bytes, removed, left, left_out, keys, opens_secrets, books });
      return codeOf(books);
    }
    printRestored(out, restored, options.config.S3_BUCKET !== undefined);
    return printBooks(out, books);
  });
}

function printRestored(out: Output, done: Awaited<ReturnType<Tools["restore"]>>, isInS3: boolean): void {
  out.line(
    `Restored the backup of ${done.madeAt}: ${done.rows} rows of ${done.tables} tables, ` +
      `${done.blobs} files (${sizeOf(done.blobBytes)})`,
  );
  if (done.removed > 0) out.line(`Removed ${filesOf(done.removed)} of the replaced installation`);
  if (done.left > 0) {
    out.note(`Could not remove ${filesOf(done.left)} of the replaced installation. They stay in the file store.`);
  }
  if (!done.keys.includes("secret-key") && !done.opensSealed) {
    out.line("The backup contains no secret key. Set GANTRY_SECRET_KEY to the old key before you start the server.");
  }
  if (!isInS3 && !done.keys.includes("link-signing-key.json")) {
    out.line(
      "The backup contains no key that signs file links. Links issued before stop working, unless this home has the key.",
    );
  }
}

const filesOf = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
