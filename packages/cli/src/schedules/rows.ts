import { type Argument, type Command, jsonOption, listOptions, type Option, serverOptions } from "../frame/command.ts";
import { followCodes, followOptions } from "../runs/rows.ts";
import { agentArgument, fieldsArgument, inputOptions, runChanges, runLimits, yesOption } from "../shared/options.ts";

const group = "agents";
const usual = { ...jsonOption, ...serverOptions };
const schedule: Argument = { name: "SCHEDULE", meaning: "Id of the schedule.", completes: "schedules" };
const whenOptions = {
  cron: {
    type: "text",
    value: "EXPRESSION",
    meaning: "Minute, hour, day of the month, month, day of the week; or @daily.",
  },
  timezone: { type: "text", value: "ZONE", meaning: "Such as Europe/Berlin; UTC by default." },
} as const satisfies Record<string, Option>;
const policyOptions = {
  overlap: { type: "text", meaning: "While an earlier run still works.", choices: ["skip", "queue"] },
  missed: { type: "text", meaning: "Times that passed while no server was running.", choices: ["skip", "once"] },
} as const satisfies Record<string, Option>;

export const scheduleCommands: readonly Command[] = [
  {
    name: "schedules list",
    group,
    summary: "List your schedules and their next times.",
    options: {
      agent: { type: "text", value: "AGENT", meaning: "Only schedules of this agent.", completes: "agents" },
      ...listOptions,
      ...usual,
    },
    examples: [{ line: "schedules list", meaning: "What runs, and when" }],
    load: async () => (await import("./schedules.ts")).listSchedules,
  },
  {
    name: "schedules create",
    group,
    summary: "Run an agent at given times.",
    details: "For another user's agent you agree to its present price. If the price changes, the schedule pauses.",
    arguments: [agentArgument, fieldsArgument],
    options: {
      ...whenOptions,
      name: { type: "text", value: "NAME", meaning: "Name of the schedule." },
      ...policyOptions,
      thread: { type: "text", value: "ID", meaning: "Conversation that all runs continue.", completes: "threads" },
      disabled: { type: "flag", meaning: "Create it without starting it." },
      ...inputOptions,
      ...runLimits,
      ...usual,
    },
    examples: [
      {
        line: 'schedules create report --cron "0 9 * * MON-FRI" --timezone Europe/Berlin topic=sales',
        meaning: "Every working day at nine",
      },
    ],
    load: async () => (await import("./schedules.ts")).createSchedule,
  },
  {
    name: "schedules show",
    group,
    summary: "Show a schedule: its next times, and why it is paused.",
    arguments: [schedule],
    options: usual,
    examples: [{ line: "schedules show sch_123", meaning: "One schedule" }],
    load: async () => (await import("./schedules.ts")).showSchedule,
  },
  {
    name: "schedules change",
    group,
    summary: "Change a schedule.",
    details:
      "Give only what to change. Fields are added to the input; --input replaces it. Runs then use the key of this command.",
    arguments: [schedule, fieldsArgument],
    options: {
      ...whenOptions,
      timezone: { ...whenOptions.timezone, meaning: "Such as Europe/Berlin." },
      ...policyOptions,
      thread: {
        type: "text",
        value: "ID",
        meaning: "Conversation that all runs continue; none: each run starts its own.",
        completes: "threads",
      },
      ...inputOptions,
      ...runChanges,
      ...usual,
    },
    examples: [
      { line: 'schedules change sch_123 --cron "30 8 * * MON-FRI" topic=costs', meaning: "Another time and topic" },
      {
        line: "schedules change sch_123 --expected-price 0.10",
        meaning: "Accept a new price. Then resume it",
      },
    ],
    load: async () => (await import("./schedules.ts")).changeSchedule,
  },
  {
    name: "schedules pause",
    group,
    summary: "Stop a schedule from creating runs.",
    arguments: [schedule],
    options: usual,
    examples: [{ line: "schedules pause sch_123", meaning: "Disable it" }],
    load: async () => (await import("./schedules.ts")).pauseSchedule,
  },
  {
    name: "schedules resume",
    group,
    summary: "Start a schedule again.",
    details: "Runs then use the key of this command.",
    arguments: [schedule],
    options: usual,
    examples: [{ line: "schedules resume sch_123", meaning: "Enable it" }],
    load: async () => (await import("./schedules.ts")).resumeSchedule,
  },
  {
    name: "schedules run",
    group,
    summary: "Run a schedule now, and print the result.",
    details: "Ctrl+C cancels the run. With --queue the command prints the id of the run and ends.",
    arguments: [schedule],
    options: {
      ...followOptions,
      queue: { type: "flag", meaning: "Do not wait. Follow the run with gantry runs follow." },
      ...usual,
    },
    examples: [{ line: "schedules run sch_123 --follow", meaning: "Try it" }],
    codes: followCodes,
    load: async () => (await import("./schedules.ts")).runSchedule,
  },
  {
    name: "schedules delete",
    group,
    summary: "Delete a schedule. Its runs stay.",
    arguments: [schedule],
    options: { ...yesOption, ...usual },
    examples: [{ line: "schedules delete sch_123 --yes", meaning: "Delete without a question" }],
    load: async () => (await import("./schedules.ts")).deleteSchedule,
  },
];
