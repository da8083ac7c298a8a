import { type Argument, type Command, jsonOption, listOptions, type Option, serverOptions } from "../frame/command.ts";
import { limitOptions, yesOption } from "../shared/options.ts";

const { team: _ofOthers, ...ownOptions } = serverOptions;
const usual = { ...jsonOption, ...ownOptions };
const group = "account";
const team: Argument = { name: "TEAM", meaning: "Name of the team." };
const member: Argument = { name: "USERNAME", meaning: "The member." };

const memberOptions = {
  role: { type: "text", meaning: "What the member may do.", choices: ["owner", "admin", "member"] },
  ...limitOptions("member"),
} as const satisfies Record<string, Option>;

export const teamCommands: readonly Command[] = [
  {
    name: "teams list",
    group,
    summary: "List your teams and your role in each.",
    options: { ...listOptions, ...usual },
    examples: [{ line: "teams list", meaning: "See which teams you can act for" }],
    load: async () => (await import("./teams.ts")).listTeams,
  },
  {
    name: "teams create",
    group,
    summary: "Create a team. You become its owner.",
    arguments: [{ ...team, meaning: "Name of the team. Users and teams share one set of names." }],
    options: {
      owner: { type: "text", value: "USERNAME", meaning: "First owner instead of you, for admins." },
      ...usual,
    },
    examples: [{ line: "teams create lab", meaning: "Create the team lab" }],
    load: async () => (await import("./teams.ts")).createTeam,
  },
  {
    name: "teams members",
    group,
    summary: "List the members of a team.",
    arguments: [team],
    options: { ...listOptions, ...usual },
    examples: [{ line: "teams members lab", meaning: "Roles, budgets and spending" }],
    load: async () => (await import("./teams.ts")).listMembers,
  },
  {
    name: "teams add",
    group,
    summary: "Add a member to a team.",
    arguments: [team, { name: "USERNAME", meaning: "The person." }],
    options: { ...memberOptions, ...usual },
    examples: [{ line: "teams add lab anna --monthly-limit 20", meaning: "Add a member with a budget" }],
    load: async () => (await import("./teams.ts")).addMember,
  },
  {
    name: "teams change",
    group,
    summary: "Change the role or the budget of a member.",
    arguments: [team, member],
    options: { ...memberOptions, ...usual },
    examples: [{ line: "teams change lab anna --role admin", meaning: "Let a member manage the team" }],
    load: async () => (await import("./teams.ts")).changeMember,
  },
  {
    name: "teams remove",
    group,
    summary: "Remove a member from a team, or leave it yourself.",
    details: "The member's keys of the team stop working.",
    arguments: [team, member],
    options: { ...yesOption, ...usual },
    examples: [{ line: "teams remove lab anna --yes", meaning: "Remove without a question" }],
    load: async () => (await import("./teams.ts")).removeMember,
  },
  {
    name: "teams usage",
    group,
    summary: "Show what each member of a team has used this month.",
    arguments: [team],
    options: usual,
    examples: [{ line: "teams usage lab", meaning: "Who has spent what" }],
    load: async () => (await import("./teams.ts")).teamUsage,
  },
];
