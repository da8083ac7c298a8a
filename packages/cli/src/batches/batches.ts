import type { BatchRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { ago, count, time } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";

export async function listBatches(context: Context): Promise<number> {
  const { batches } = await context.client();
  return printList(
    context,
    batches.each({ signal: context.signal }),
    [
      { title: "batch", value: ({ id }) => id },
      { title: "status", value: ({ status }) => status },
      { title: "requests", value: progressOf },
      { title: "endpoint", value: ({ endpoint }) => endpoint },
      { title: "created", value: ({ created_at }) => ago(momentOf(created_at)) },
    ],
    "You have no batches. Create one with: gantry batches create FILE",
  );
}

export async function showBatch(context: Context): Promise<number> {
  const { batches } = await context.client();
  return printBatch(context, await batches.get(context.words[0] ?? ""));
}

export async function cancelBatch(context: Context): Promise<number> {
  const { batches } = await context.client();
  return printBatch(context, await batches.cancel(context.words[0] ?? ""));
}

export function printBatch({ out, flag }: Context, batch: BatchRecord): number {
  if (flag("json")) {
    out.json(batch);
    return exitCodes.done;
  }
  const endedAt = batch.completed_at ?? batch.failed_at ?? batch.expired_at ?? batch.cancelled_at;
  const timeOf = (seconds: number) => `${time(momentOf(seconds))} (${ago(momentOf(seconds))})`;
  out.details([
    ["Batch", batch.id],
    ["Status", batch.status],
    ["Requests", progressOf(batch)],
    ["Endpoint", batch.endpoint],
    ["Created", timeOf(batch.created_at)],
    endedAt === null ? ["Expires", timeOf(batch.expires_at)] : ["Ended", timeOf(endedAt)],
    [
      "Problems",
      batch.errors?.data.map(({ line, message }) => (line === null ? message : `Line ${line}: ${message}`)).join("\n"),
    ],
    ["Metadata", batch.metadata && JSON.stringify(batch.metadata)],
  ]);
  return exitCodes.done;
}

/** For example "40 of 41, 1 failed"; empty until the file has been read. */
export function progressOf({ request_counts: { total, completed, failed } }: BatchRecord): string {
  if (total === 0) return "";
  const done = `${count(completed + failed)} of ${count(total)}`;
  return failed > 0 ? `${done}, ${count(failed)} failed` : done;
}

const momentOf = (seconds: number): Date => new Date(seconds * 1000);
