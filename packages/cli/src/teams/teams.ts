import type { MemberRecord, TeamRecord, TeamRole, TeamUsageRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { ago, money } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { dollarsOf } from "../frame/moment.rules.ts";
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
    "You are in no team.",
  );
}

export async function createTeam({ words: [name = ""], text, flag, out, client, signal }: Context): Promise<number> {
  const owner = text("owner");
  const team = await (await client()).teams.create({ name, ...(owner !== undefined && { owner }) }, { signal });
  if (flag("json")) out.json(team);
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
      { title: "keys", value: ({ keys }) => String(keys) },
      { title: "last active", value: ({ last_active_at }) => ago(last_active_at) },
    ],
    "The team has no members.",
  );
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
  return printMember(context, member, `Changed ${member.username}: ${member.role}.`);
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
  const { results } = await (await client()).teams.usage(team, { page_size: 100, signal });
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

function changeOf({ text }: Context) {
  const role = text("role");
  const limit = (name: string) => {
    const given = text(name);
    return given === undefined || given === "none" ? null : dollarsOf(name, given);
  };
  return {
    ...(role !== undefined && { role: role as TeamRole }),
    ...(text("monthly-limit") !== undefined && { monthly_limit: limit("monthly-limit") }),
    ...(text("daily-limit") !== undefined && { daily_limit: limit("daily-limit") }),
  };
}

function printMember({ flag, out }: Context, member: MemberRecord, line: string): number {
  if (flag("json")) out.json(member);
  else out.line(line);
  return 0;
}
