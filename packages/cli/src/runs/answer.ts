import type { ConfirmationRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { describeFailure, exitCodes, Failure, wrongArguments } from "../frame/failure.ts";
import { pendingOf, printPending } from "./pending.ts";

export const approve = (context: Context): Promise<number> => answer(context, "approve");
export const deny = (context: Context): Promise<number> => answer(context, "deny");

async function answer(context: Context, how: "approve" | "deny"): Promise<number> {
  const { out } = context;
  const [runId = "", confirmationId] = context.words;
  const reason = context.text("reason");
  const client = await context.client();
  const ids = confirmationId === undefined ? await openOnes(context, runId) : [confirmationId];
  const answered: ConfirmationRecord[] = [];
  for (const id of ids) {
    try {
      answered.push(await client.runs.confirmations[how](runId, id, { ...(reason !== undefined && { reason }) }));
    } catch (error) {
      if (ids.length === 1) throw error;
      out.note(`${id}: ${describeFailure(error)}`);
    }
  }
  if (context.flag("json")) out.json(context.flag("all") ? { confirmations: answered } : answered[0]);
  else {
    for (const { tool, status } of answered) out.line(`${tool}: ${status}`);
    out.note(`Follow the run with: gantry runs follow ${runId}`);
  }
  if (answered.length === ids.length) return exitCodes.done;
  return answered.length > 0 ? exitCodes.partly : exitCodes.failed;
}

/** The one that is pending, if none is named. */
async function openOnes(context: Context, runId: string): Promise<string[]> {
  const pending = await pendingOf(await context.client(), runId);
  if (pending.length === 0) throw new Failure(`The run ${runId} does not wait for an approval.`);
  if (pending.length === 1 || context.flag("all")) return pending.map(({ id }) => id);
  printPending(context.out.note, runId, pending);
  throw wrongArguments(`The run waits for ${pending.length} approvals. Name one of them, or add --all.`);
}
