import { z } from "zod";
import { managementPage } from "./account-queries.ts";
import { username } from "./accounts.ts";
import { dollars } from "./dollars.ts";
import { someChange } from "./field-schema.ts";
import { choice, moment, moments, onlyParameters } from "./query-schema.ts";

/** From the most to the least rights. */
export const teamRoleNames = ["owner", "admin", "member"] as const;
export type TeamRole = (typeof teamRoleNames)[number];

/** Names the team for which a person acts, beside the person's own key or session. */
export const teamHeader = "x-gantry-team";

const role = z
  .enum(teamRoleNames)
  .describe(
    "`owner`: everything, other owners and closing the team included. `admin`: manages members, secrets, models and prices. `member`: uses what the team has, and sees its own work.",
  );

const budget = {
  monthly_limit: dollars
    .nullable()
    .optional()
    .describe("Dollars per calendar month (UTC), holds included; null: none."),
  daily_limit: dollars.nullable().optional().describe("Dollars per day (UTC), holds included; null: none."),
  tokens_per_minute: z.int().min(1).nullable().optional().describe("Null: no limit."),
};

export const createTeamBody = z.strictObject({
  name: username.describe("Usernames and names of teams are one set."),
  owner: username.optional().describe("Only for admins of the service: the first owner. Default: you."),
});
export type CreateTeamBody = z.infer<typeof createTeamBody>;

export const addMemberBody = z.strictObject({
  username: z.string(),
  role: role.optional().meta({ description: "Default: `member`." }),
  ...budget,
});
export type AddMemberBody = z.infer<typeof addMemberBody>;

export const changeMemberBody = z.strictObject({ role: role.optional(), ...budget }).refine(...someChange);
export type ChangeMemberBody = z.infer<typeof changeMemberBody>;

export const teamRecord = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(teamRoleNames).nullable().describe("Your role; null for an admin of the service who is not a member."),
  members: z.int().describe("Number of members."),
  plan: z.string(),
  balance: z.number().describe("Dollars."),
  reserved: z.number().describe("Dollars of the balance on hold for accepted work."),
  closed: z.boolean(),
  created_at: z.iso.datetime(),
});
export type TeamRecord = z.infer<typeof teamRecord>;

export const memberRecord = z.object({
  username: z.string(),
  role: z.enum(teamRoleNames),
  disabled: z.boolean().describe("The person is disabled and cannot act for the team."),
  monthly_limit: z.number().nullable().describe("Dollars per calendar month (UTC)."),
  daily_limit: z.number().nullable().describe("Dollars per day (UTC)."),
  tokens_per_minute: z.int().nullable(),
  spent: z
    .number()
    .nullable()
    .describe("Dollars of this month, holds included. Null: only admins and owners see the spending of others."),
  keys: z.int().describe("Number of keys of the team that the member has created."),
  joined_at: z.iso.datetime(),
  last_active_at: z.iso.datetime().nullable().describe("When the member last acted with its own key or session."),
});
export type MemberRecord = z.infer<typeof memberRecord>;

export const teamUsageQuery = onlyParameters({
  ...managementPage.shape,
  by: choice(["member"]).default("member"),
  from_date: moment.describe(`Default: the first of this month. At most 31 days ago. ${moments}`),
  to_date: moment.describe(`Default: now. ${moments}`),
});

export const teamUsageRecord = z.object({
  member: z
    .string()
    .nullable()
    .describe("The username; null: work that no member started, such as runs of your agents by others."),
  requests: z.int(),
  errors: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  spent: z.number().describe("Dollars."),
});
export type TeamUsageRecord = z.infer<typeof teamUsageRecord>;
