import type { MissedPolicy, OverlapPolicy, ScheduleRecord } from "@gantry/sdk";
import { findAgent } from "../agents/find-agent.ts";
import { readInput } from "../agents/read-input.ts";
import { startedRun } from "../agents/run.ts";
import type { Context } from "../frame/command.ts";
import { exitCodes, wrongArguments } from "../frame/failure.ts";
import { ago, money, time } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { dollarsOf } from "../frame/moment.rules.ts";
import { printDeleted } from "../shared/print-deleted.ts";
import { confirmDeletion } from "../shared/questions.ts";

export async function listSchedules(context: Context): Promise<number> {
  const client = await context.client();
  const agent = context.text("agent");
  const filter = agent === undefined ? {} : { agent_id: (await findAgent(client, agent)).id };
  return printList(
    context,
    client.schedules.each(filter),
    [
      { title: "schedule", value: ({ id }) => id },
      { title: "agent", value: ({ agent_name }) => agent_name },
      { title: "when", value: whenOf },
      { title: "status", value: ({ status }) => status },
      { title: "next", value: ({ next_times }) => ago(next_times[0]) },
      { title: "name", value: ({ name }) => name },
    ],
    'You have no schedules. Create one with: gantry schedules create AGENT --cron "0 9 * * *"',
  );
}

export async function createSchedule(context: Context): Promise<number> {
  const [name = "", ...words] = context.words;
  const cron = context.text("cron");
  if (cron === undefined) throw wrongArguments('Say when to run: --cron "0 9 * * MON-FRI"');
  const client = await context.client();
  const agent = await findAgent(client, name);
  const [title, timezone, thread_id] = [context.text("name"), context.text("timezone"), context.text("thread")];
  const max_cost = dollarsOf("max-cost", context.text("max-cost"));
  const schedule = await client.schedules.create(agent.id, {
    cron,
    input: await readInput(context, words, agent.input_schema),
    enabled: !context.flag("disabled"),
    approve: [...context.texts("approve")],
    overlap: (context.text("overlap") ?? "skip") as OverlapPolicy,
    missed: (context.text("missed") ?? "skip") as MissedPolicy,
    ...(title !== undefined && { name: title }),
    ...(timezone !== undefined && { timezone }),
    ...(thread_id !== undefined && { thread_id }),
    ...(max_cost !== undefined && { max_cost }),
  });
  return print(context, schedule);
}

export async function showSchedule(context: Context): Promise<number> {
  const client = await context.client();
  return print(context, await client.schedules.get(context.words[0] ?? ""));
}

export const pauseSchedule = (context: Context): Promise<number> => enable(context, false);
export const resumeSchedule = (context: Context): Promise<number> => enable(context, true);

async function enable(context: Context, enabled: boolean): Promise<number> {
  const client = await context.client();
  return print(context, await client.schedules.update(context.words[0] ?? "", { enabled }));
}

export function runSchedule(context: Context): Promise<number> {
  return startedRun(context, async (client) => client.schedules.run(context.words[0] ?? ""));
}

export async function deleteSchedule(context: Context): Promise<number> {
  const client = await context.client();
  const { id, agent_name, cron } = await client.schedules.get(context.words[0] ?? "");
  if (!(await confirmDeletion(context, `the schedule ${id} (${agent_name}, ${cron})`))) return exitCodes.failed;
  await client.schedules.delete(id);
  return printDeleted(context, id);
}

const whenOf = ({ cron, timezone }: ScheduleRecord): string => `${cron} ${timezone}`;

function print(context: Context, schedule: ScheduleRecord): number {
  const { out } = context;
  if (context.flag("json")) {
    out.json(schedule);
    return exitCodes.done;
  }
  const { next_times, last_skipped_at, skipped_reason, max_cost } = schedule;
  out.details([
    ["Schedule", schedule.id],
    ["Name", schedule.name],
    ["Agent", `${schedule.agent_name} (${schedule.agent_id})`],
    ["When", whenOf(schedule)],
    ["Status", schedule.status],
    ["Paused", schedule.paused_reason],
    ["Next", next_times.map((at) => `${time(at)} (${ago(at)})`).join("\n")],
    ["Input", JSON.stringify(schedule.input)],
    ["Thread", schedule.thread_id],
    ["Most a run may cost", max_cost === null ? undefined : money(max_cost)],
    ["Approved tools", schedule.approve.join(", ")],
    ["Last run", schedule.last_run_id],
    ["Skipped", last_skipped_at && `${time(last_skipped_at)}: ${skipped_reason}`],
  ]);
  return exitCodes.done;
}
