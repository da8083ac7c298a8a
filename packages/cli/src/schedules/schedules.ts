import type { ChangeScheduleBody, GantryClient, MissedPolicy, OverlapPolicy, ScheduleRecord } from "@gantry/sdk";
import { agreedPrice, findAgent, priceText } from "../agents/find-agent.ts";
import { checkRequired } from "../agents/input.rules.ts";
import { readInput } from "../agents/read-input.ts";
import { startedRun } from "../agents/run.ts";
import type { Context } from "../frame/command.ts";
import { exitCodes, wrongArguments } from "../frame/failure.ts";
import { ago, money, time } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { dollarsOf } from "../frame/moment.rules.ts";
import { printDeleted } from "../shared/print-deleted.ts";
import { confirmDeletion } from "../shared/questions.ts";
import { runChangesOf } from "../shared/run-changes.ts";

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
  const price = agreedPrice(agent);
  if (price.expected_price) context.out.note(priceText(agent));
  const [title, timezone, thread_id] = [context.text("name"), context.text("timezone"), context.text("thread")];
  const max_cost = dollarsOf("max-cost", context.text("max-cost"));
  const input = await readInput(context, words, agent.input_schema);
  checkRequired(input, agent.input_schema);
  const schedule = await client.schedules.create(agent.id, {
    cron,
    input,
    enabled: !context.flag("disabled"),
    approve: [...context.texts("approve")],
    overlap: (context.text("overlap") ?? "skip") as OverlapPolicy,
    missed: (context.text("missed") ?? "skip") as MissedPolicy,
    ...(title !== undefined && { name: title }),
    ...(timezone !== undefined && { timezone }),
    ...(thread_id !== undefined && { thread_id }),
    ...(max_cost !== undefined && { max_cost }),
    ...price,
  });
  return print(context, schedule);
}

export async function changeSchedule(context: Context): Promise<number> {
  const [id = "", ...words] = context.words;
  const [cron, timezone] = [context.text("cron"), context.text("timezone")];
  const [overlap, missed] = [context.text("overlap"), context.text("missed")];
  const client = await context.client();
  const input = await changedInput(context, client, id, words);
  const change: ChangeScheduleBody = {
    ...(cron !== undefined && { cron }),
    ...(timezone !== undefined && { timezone }),
    ...(overlap !== undefined && { overlap: overlap as OverlapPolicy }),
    ...(missed !== undefined && { missed: missed as MissedPolicy }),
    ...(input && { input }),
    ...runChangesOf(context),
  };
  const schedule = await client.schedules.update(id, change);
  const code = print(context, schedule);
  if (schedule.status === "paused") context.out.note(`Still paused. Resume it with: gantry schedules resume ${id}`);
  return code;
}

/** Fields that were typed are added to the input that the schedule has, unless --input gives a whole one. */
async function changedInput(context: Context, client: GantryClient, id: string, words: readonly string[]) {
  const isWhole = context.text("input") !== undefined;
  if (!isWhole && words.length === 0) return undefined;
  const { agent_id, input } = await client.schedules.get(id);
  const { input_schema } = await client.agents.get(agent_id);
  return { ...(!isWhole && input), ...(await readInput(context, words, input_schema)) };
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
  const { next_times, last_skipped_at, skipped_reason, max_cost, expected_price } = schedule;
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
    ["Price agreed to", expected_price === null ? undefined : money(expected_price)],
    ["Most a run may cost", max_cost === null ? undefined : money(max_cost)],
    ["Approved tools", schedule.approve.join(", ")],
    ["Last run", schedule.last_run_id],
    ["Skipped", last_skipped_at && `${time(last_skipped_at)}: ${skipped_reason}`],
  ]);
  return exitCodes.done;
}
