import type { BatchRecord, GantryClient, NewBatch } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { sizeOf } from "../frame/format.rules.ts";
import { openFile } from "../shared/open-file.ts";
import { printBatch, progressOf } from "./batches.ts";

export async function createBatch(context: Context): Promise<number> {
  const { words, out, text, flag, signal } = context;
  const [file = ""] = words;
  const requests = await openFile(file);
  const client = await context.client();
  out.progress(`Uploading ${file}, ${sizeOf(requests.size)}`);
  const batch = await client.batches
    .create(requests, {
      endpoint: (text("endpoint") ?? "/v1/chat/completions") as NewBatch["endpoint"],
      filename: requests.name,
      signal,
    })
    .finally(() => out.progress(undefined));
  if (flag("wait")) {
    out.note(`Created ${batch.id}.`);
    return awaitEnd(context, client, batch.id);
  }
  if (flag("json")) out.json(batch);
  else {
    out.line(batch.id);
    out.note(`Wait for its end with: gantry batches wait ${batch.id}`);
  }
  return exitCodes.done;
}

export async function waitForBatch(context: Context): Promise<number> {
  return awaitEnd(context, await context.client(), context.words[0] ?? "");
}

async function awaitEnd(context: Context, client: GantryClient, id: string): Promise<number> {
  const { out, flag, signal } = context;
  const onLook = (batch: BatchRecord) => out.progress(`${batch.id} is ${batch.status} ${progressOf(batch)}`);
  try {
    const batch = await client.batches.waitFor(id, { onLook, signal }).finally(() => out.progress(undefined));
    printBatch(context, batch);
    if (!flag("json")) adviseOn(context, batch);
    return codeOf(batch);
  } catch (error) {
    if (signal.aborted) out.note(`The batch continues. Wait for its end with: gantry batches wait ${id}`);
    throw error;
  }
}

function adviseOn({ out }: Context, { id, output_file_id, error_file_id }: BatchRecord): void {
  if (output_file_id !== null) out.note(`Fetch the results with: gantry batches results ${id}`);
  if (error_file_id !== null) out.note(`See what failed with: gantry batches results ${id} --errors`);
}

function codeOf({ status, request_counts: { failed } }: BatchRecord): number {
  if (status !== "completed") return exitCodes.failed;
  return failed > 0 ? exitCodes.partly : exitCodes.done;
}
