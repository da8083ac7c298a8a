import { z } from "zod";
import { onlyParameters, page, searchTextIfAny } from "./query-schema.ts";
import { runError, runPhases, runStatuses } from "./runs.ts";

export const threadRecord = z.object({
  id: z.string().describe("The `thread_id` of its runs."),
  agent_id: z.string(),
  agent_name: z.string(),
  title: z.string().describe("The first line of the first input's text, at most 100 characters."),
  runs: z.int().describe("Number of runs."),
  last_run_id: z.string(),
  last_status: z.enum(runStatuses).describe("Status of the last run."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime().describe("When the last run was created, or has ended."),
  expires_at: z.iso
    .datetime()
    .nullable()
    .describe("When the thread and its runs will be deleted. Null while a run has not ended."),
});
export type ThreadRecord = z.infer<typeof threadRecord>;

/** Of one answer. */
export const mostTurns = 100;

export const threadTurn = z.object({
  run_id: z.string(),
  status: z.enum(runStatuses),
  phase: z.enum(runPhases),
  input: z.record(z.string(), z.unknown()),
  output: z.record(z.string(), z.unknown()).optional().describe("Set if the run is `done`."),
  error: runError.optional(),
  cost: z.number().describe("Dollars charged so far."),
  created_at: z.iso.datetime(),
  completed_at: z.iso.datetime().optional(),
});
export type ThreadTurn = z.infer<typeof threadTurn>;

export const threadDetails = threadRecord.extend({
  turns: z.array(threadTurn).describe(`Oldest first: the last ${mostTurns}, or those before \`before\`.`),
  has_more: z
    .boolean()
    .describe("There are earlier turns. Read them with `before`, the first `run_id` of this answer."),
});
export type ThreadDetails = z.infer<typeof threadDetails>;

export const threadsQuery = onlyParameters({
  ...page(),
  agent_id: searchTextIfAny.describe("Only threads of this agent."),
});

export const threadQuery = onlyParameters({
  before: searchTextIfAny.describe("Only turns before this run of the thread."),
});
