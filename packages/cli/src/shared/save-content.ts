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
  if (to === "-") return printContent(out, await download());
  if (!flag("force") && (await exists(to))) throw refusal;
  const { body } = await download();
  const bytes = await writeWhole(to, body, { replace: flag("force"), signal });
  if (bytes === undefined) throw refusal;
  return bytes;
}

/** In a terminal, escape sequences of a file could do anything. */
export async function printContent(out: Context["out"], { body }: Response): Promise<number> {
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (out.isTerminal) await out.text(decoder.decode(chunk, { stream: true }));
    else await out.bytes(chunk);
  }
  return bytes;
}
