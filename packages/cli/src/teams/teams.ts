import type { MemberRecord, TeamRecord, TeamRole, TeamUsageRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { ago, count, money } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { limitsOf } from "../shared/limits.ts";
import { confirmed } from "../shared/questions.ts";

export async function listTeams(context: Context): Promise<number> {
  const { teams } = await context.client();
  return printList<TeamRecord>(
    context,
    teams.each({ signal: context.signal }),
    [
      { title: "name", value: ({ name }) => name },
      { title: "your role", value: ({ role }) => role ?? "" },
      { title: "members", value: ({ members }) => String(members) },
      { title: "balance", value: ({ balance }) => money(balance) },
      { title: "plan", value: ({ plan }) => plan },
    ],
    "You are not in a team.",
  );
}

export async function createTeam({ words: [name = ""], text, flag, out, client, signal }: Context): Promise<number> {
  const owner = text("owner");
  const team = await (await client()).teams.create({ name, ...(owner !== undefined && { owner }) }, { signal });
  if (flag("json")) out.json(team);
  else if (team.role === null) out.line(`Created the team ${team.name}, owned by ${owner}.`);
  else out.line(`Created the team ${team.name}. Act for it with --team ${team.name}, or GANTRY_TEAM.`);
  return 0;
}

export async function listMembers(context: Context): Promise<number> {
  const { teams } = await context.client();
  const [team = ""] = context.words;
  return printList<MemberRecord>(
    context,
    teams.eachMember(team, { signal: context.signal }),
    [
      { title: "member", value: ({ username }) => username },
      { title: "role", value: ({ role }) => role },
      { title: "spent this month", value: spentOf },
      { title: "daily limit", value: ({ daily_limit: limit }) => (limit === null ? "" : money(limit)) },
      { title: "tokens/min", value: ({ tokens_per_minute: limit }) => limit?.toLocaleString("en-US") },
      { title: "keys", value: ({ keys }) => String(keys) },
      { title: "last active", value: ({ last_active_at }) => ago(last_active_at) },
    ],
    "The team has no members.",
  );
}

function budgetOf({ monthly_limit, daily_limit, tokens_per_minute }: MemberRecord): string[] {
  return [
    ...(monthly_limit === null ? [] : [`${money(monthly_limit)} a month`]),
    ...(daily_limit === null ? [] : [`${money(daily_limit)} a day`]),
    ...(tokens_per_minute === null ? [] : [`${count(tokens_per_minute)} tokens a minute`]),
  ];
}

function spentOf({ spent, monthly_limit: limit }: MemberRecord): string {
  if (spent === null) return "";
  return limit === null ? money(spent) : `${money(spent)} of ${money(limit)}`;
}

export async function addMember(context: Context): Promise<number> {
  const [team = "", username = ""] = context.words;
  const { teams } = await context.client();
  const member = await teams.addMember(team, { username, ...changeOf(context) }, { signal: context.signal });
  return printMember(context, member, `Added ${member.username} to ${team} as ${member.role}.`);
}

export async function changeMember(context: Context): Promise<number> {
  const [team = "", username = ""] = context.words;
  const { teams } = await context.client();
  const member = await teams.updateMember(team, username, changeOf(context), { signal: context.signal });
  return printMember(context, member, `Changed ${member.username}: ${[member.role, ...budgetOf(member)].join(", ")}.`);
}

export async function removeMember(context: Context): Promise<number> {
  const {
    words: [team = "", username = ""],
    flag,
    out,
    signal,
  } = context;
  const asked = `Remove ${username} from ${team}? Its keys of the team stop working.`;
  if (!(await confirmed(context, asked, `remove ${username}`))) return 1;
  await (await context.client()).teams.removeMember(team, username, { signal });
  if (flag("json")) out.json({ team, username, removed: true });
  else out.line(`Removed ${username} from ${team}.`);
  return 0;
}

export async function teamUsage({ words: [team = ""], flag, out, client, signal }: Context): Promise<number> {
  const { teams } = await client();
  const results: TeamUsageRecord[] = [];
  for await (const entry of teams.eachUsage(team, { signal })) results.push(entry);
  if (flag("json")) {
    out.json(results);
    return 0;
  }
  out.table<TeamUsageRecord>(
    [
      { title: "member", value: ({ member }) => member ?? "(other users)" },
      { title: "requests", value: ({ requests }) => String(requests) },
      { title: "errors", value: ({ errors }) => String(errors) },
      { title: "tokens in", value: ({ input_tokens }) => String(input_tokens) },
      { title: "tokens out", value: ({ output_tokens }) => String(output_tokens) },
      { title: "spent", value: ({ spent }) => money(spent) },
    ],
    results,
    "The team has used nothing this month.",
  );
  return 0;
}

function changeOf(context: Context) {
  const role = context.text("role");
  return { ...(role !== undefined && { role: role as TeamRole }), ...limitsOf(context) };
}

function printMember({ flag, out }: Context, member: MemberRecord, line: string): number {
  if (flag("json")) out.json(member);
  else out.line(line);
  return 0;
}
