import { type MemberRecord, type TeamRecord, type TeamUsageRecord, teamUsageQuery } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import { manages, type SeenMember, shownMonthlyLimit, type Team } from "../../features/accounts/index.ts";
import type { MemberUsage, Wallet } from "../../features/billing/index.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { route } from "../foundation/route.ts";
import type { AccountApiDeps } from "./deps.ts";
import { readDatedListQuery } from "./money-queries.ts";

const operations = accountOperations;

/** Teams and their members. The feature checks what the caller's role in the team allows. */
export function teamRoutes(app: FastifyInstance, { accounts, billing }: AccountApiDeps): void {
  const withWallet = async (team: Team) => teamToWire(team, await billing.walletOf(team.id));

  route(app, operations.listTeams, async ({ caller, query }) => {
    const { entries, total } = await accounts.listTeams(caller, rangeOf(query));
    const wallets = await billing.walletsOf(entries.map(({ id }) => id));
    return listEnvelope(
      entries.map((team, n) => teamToWire(team, wallets[n] as Wallet)),
      query,
      total,
    );
  });

  route(app, operations.createTeam, async ({ caller, body }) => withWallet(await accounts.createTeam(caller, body)));

  route(app, operations.readTeam, async ({ caller, params }) =>
    withWallet(await accounts.readTeam(caller, params.team)),
  );

  route(app, operations.closeTeam, async ({ caller, params }) => {
    await accounts.closeTeam(caller, params.team);
  });

  route(app, operations.listMembers, async ({ caller, params, query }) => {
    const { entries, total } = await accounts.listMembers(caller, params.team, rangeOf(query));
    return listEnvelope(entries.map(memberToWire), query, total);
  });

  route(app, operations.addMember, async ({ caller, params, body }) =>
    memberToWire(await accounts.addMember(caller, params.team, body)),
  );

  route(app, operations.readMember, async ({ caller, params: { team, username } }) =>
    memberToWire(await accounts.readMember(caller, team, username)),
  );

  route(app, operations.changeMember, async ({ caller, params: { team, username }, body }) =>
    memberToWire(await accounts.changeMember(caller, team, username, body)),
  );

  route(app, operations.removeMember, async ({ caller, params: { team, username } }) => {
    await accounts.removeMember(caller, team, username);
  });

  route(app, operations.readTeamUsage, { unchecked: "query" }, async ({ caller, params, query }) => {
    const { page, range } = readDatedListQuery(query, teamUsageQuery);
    const team = await accounts.readTeam(caller, params.team);
    const memberId = manages(team.as) ? undefined : accounts.personOf(caller);
    const { entries, total } = await billing.readMemberUsage(team.id, range, { memberId, ...rangeOf(page) });
    return listEnvelope(entries.map(usageToWire), page, total);
  });
}

export function teamToWire(team: Team, { balance, reserved }: Wallet): TeamRecord {
  return {
    id: team.id,
    name: team.name,
    role: team.role,
    members: team.members,
    plan: team.plan,
    balance: dollarsOfMicros(balance),
    reserved: dollarsOfMicros(reserved),
    closed: team.closedAt !== null,
    created_at: team.createdAt.toISOString(),
  };
}

export function memberToWire({ isHidden, ...member }: SeenMember): MemberRecord {
  const monthly = shownMonthlyLimit(member.monthlyLimitMicros);
  const dollars = (micros: number | null) => (isHidden || micros === null ? null : dollarsOfMicros(micros));
  return {
    username: member.username,
    role: member.role,
    disabled: member.disabledAt !== null,
    monthly_limit: dollars(monthly),
    daily_limit: dollars(member.dailyLimitMicros),
    tokens_per_minute: isHidden ? null : member.tokensPerMinute,
    spent: dollars(member.spentMicros),
    keys: member.keys,
    joined_at: member.joinedAt.toISOString(),
    last_active_at: isHidden ? null : (member.lastActiveAt?.toISOString() ?? null),
  };
}

function usageToWire({ member, requests, errors, inputTokens, outputTokens, spent }: MemberUsage): TeamUsageRecord {
  return {
    member,
    requests,
    errors,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    spent: dollarsOfMicros(spent),
  };
}
