import type { RunPhase, RunRecord, RunStatus } from "@gantry/sdk";
import { findAgent } from "../agents/find-agent.ts";
import type { Context } from "../frame/command.ts";
import { ago, money, seconds } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { momentOf } from "../frame/moment.rules.ts";
import type { Column } from "../frame/table.rules.ts";

export const runColumns: readonly Column<RunRecord>[] = [
  { title: "run", value: ({ id }) => id },
  { title: "agent", value: ({ agent_name }) => agent_name },
  { title: "status", value: statusOf },
  { title: "time", value: ({ worked_ms, waited_ms }) => seconds((worked_ms + waited_ms) / 1000), align: "right" },
  { title: "cost", value: ({ cost }) => (cost === undefined ? "" : money(cost)), align: "right" },
  { title: "created", value: ({ created_at }) => ago(created_at) },
];

/** The reason of a failure, and what a run waits for, say more than the status. */
export function statusOf({ status, phase, error }: Pick<RunRecord, "status" | "phase" | "error">): string {
  if (error) return error.type;
  return phase === "awaiting_confirmation" ? "needs approval" : status;
}

export async function listRuns(context: Context): Promise<number> {
  const client = await context.client();
  const agent = context.text("agent");
  const moment = (option: "from" | "to") => {
    const given = context.text(option);
    return given === undefined ? undefined : momentOf(option, given, "ago");
  };
  const filter = {
    ...(agent !== undefined && { agent_id: (await findAgent(client, agent)).id, mine: true }),
    status: context.text("status") as RunStatus | undefined,
    phase: context.flag("waiting") ? ("awaiting_confirmation" satisfies RunPhase as RunPhase) : undefined,
    thread_id: context.text("thread"),
    from_date: moment("from"),
    to_date: moment("to"),
  };
  return printList(context, client.runs.each(filter), runColumns, "No runs found.");
}
