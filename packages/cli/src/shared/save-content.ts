import { exists, writeWhole } from "../drives/local-files.ts";
import type { Context } from "../frame/command.ts";
import { Failure } from "../frame/failure.ts";

/** Writes a download to a file, or to stdout for `-`. Replaces a file only with --force. Returns the number of bytes. */
export async function saveContent(
  { out, signal, flag }: Context,
  to: string,
  download: () => Promise<Response>,
): Promise<number> {
  const refusal = new Failure(`${to} exists. Add --force to replace it.`);
  if (to === "-") return print(out, await download());
  if (!flag("force") && (await exists(to))) throw refusal;
  const { body } = await download();
  const bytes = await writeWhole(to, body, { replace: flag("force"), signal });
  if (bytes === undefined) throw refusal;
  return bytes;
}

async function print(out: Context["out"], { body }: Response): Promise<number> {
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    await out.bytes(chunk);
  }
  return bytes;
}
