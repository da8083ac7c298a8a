import type { BatchRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes, Failure } from "../frame/failure.ts";
import { sizeOf } from "../frame/format.rules.ts";
import { saveContent } from "../shared/save-content.ts";

export async function batchResults(context: Context): Promise<number> {
  const { words, out, text, flag, signal } = context;
  const client = await context.client();
  const batch = await client.batches.get(words[0] ?? "", { signal });
  const { output_file_id, error_file_id } = batch;
  const file = flag("errors") ? error_file_id : output_file_id;
  if (file === null) throw new Failure(whyNone(batch, flag("errors")));
  const to = text("out") ?? "-";
  const bytes = await saveContent(context, to, () => client.batches.download(file, { signal }));
  if (to !== "-") {
    out.line(to);
    out.note(`Downloaded ${sizeOf(bytes)}.`);
  }
  return exitCodes.done;
}

function whyNone({ id, status, output_file_id, error_file_id }: BatchRecord, wantsErrors: boolean): string {
  if (status === "failed") return `The file of ${id} was refused. gantry batches show ${id} lists its problems.`;
  if (output_file_id === null && error_file_id === null) {
    return `${id} is ${status} and has no results yet. Wait for its end with: gantry batches wait ${id}`;
  }
  return wantsErrors
    ? `No request of ${id} failed. Leave out --errors for the results.`
    : `No request of ${id} succeeded. See why with: gantry batches results ${id} --errors`;
}
