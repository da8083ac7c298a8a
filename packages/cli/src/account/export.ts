import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { ExportManifest } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { Failure, wrongArguments } from "../frame/failure.ts";
import { count, sizeOf } from "../frame/format.rules.ts";
import type { Output } from "../frame/output.ts";
import { placeOf } from "../predictions/place.ts";
import { readManifest } from "./read-manifest.ts";

const cut = "The export was cut, so nothing was saved. Run the command again.";

/** The file gets its name when its manifest has shown that it is complete. */
export async function exportAccount(context: Context): Promise<number> {
  const { text, flag, out, client: connect, signal } = context;
  const user = text("user");
  const client = await connect();
  const name = user ?? (await client.me({ signal })).username;
  // The name comes from the server: encoded, it cannot lead to another folder.
  const usual = `gantry-${encodeURIComponent(name)}-${new Date().toISOString().slice(0, 10)}.tar.gz`;
  const place = placeOf(text("out") ?? usual, flag("force"), out);
  if (place.kind === "stdout")
    throw wrongArguments("--out takes a file or a folder: the archive is checked at the end.");
  const path = place.kind === "folder" ? join(place.path, usual) : place.path;
  const options = { files: !flag("no-files"), signal };
  const answer = await (user === undefined ? client.account.export(options) : client.admin.users.export(user, options));
  const part = `${path}.${process.pid}.part`;
  try {
    const bytes = await download(answer, part, context);
    out.progress("Checking the archive");
    const manifest = await readManifest(createReadStream(part).pipe(createGunzip())).catch(() => undefined);
    if (!manifest?.complete) throw new Failure(cut);
    if (!place.mayReplace && existsSync(path)) throw new Failure(`${path} already exists. Add --force to replace it.`);
    await rename(part, path);
    if (flag("json")) out.json({ path, bytes, manifest });
    else print(out, path, bytes, manifest);
    return 0;
  } finally {
    out.progress(undefined);
    await rm(part, { force: true });
  }
}

async function download({ body }: Response, part: string, { out, signal }: Context): Promise<number> {
  let bytes = 0;
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      out.progress(`${sizeOf(bytes)} received`);
      done(null, chunk);
    },
  });
  const source = body ? Readable.fromWeb(body as never) : Readable.from([]);
  await pipeline(source, counting, createWriteStream(part, { flags: "wx", mode: 0o600 }), { signal });
  return bytes;
}

function print(out: Output, path: string, bytes: number, { lists, contents }: ExportManifest): void {
  const records = Object.values(lists).reduce((sum, list) => sum + list.records, 0);
  out.line(`${path}: ${count(records)} records and ${count(contents.files)} files, ${sizeOf(bytes)}`);
  if (contents.missing > 0) {
    out.note(`${count(contents.missing)} files could not be read. missing.jsonl in the archive lists them.`);
  }
}
