import type { RunRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { describeFailure, exitCodes } from "../frame/failure.ts";
import { statusOf } from "./list.ts";

export async function cancelRuns(context: Context): Promise<number> {
  const { out, words } = context;
  const client = await context.client();
  const cancelled: RunRecord[] = [];
  for (const id of words) {
    try {
      cancelled.push(await client.runs.cancel(id));
    } catch (error) {
      if (words.length === 1) throw error;
      out.note(`${id}: ${describeFailure(error)}`);
    }
  }
  if (context.flag("json")) out.json(words.length === 1 ? cancelled[0] : { runs: cancelled });
  else for (const run of cancelled) out.line(`${run.id}: ${statusOf(run)}`);
  if (cancelled.length === words.length) return exitCodes.done;
  return cancelled.length > 0 ? exitCodes.partly : exitCodes.failed;
}
