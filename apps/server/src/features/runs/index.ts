export type { Confirmation } from "./confirmations.ts";
export type { ConversationEnd, ConversationRequest } from "./converse/converse.ts";
export type { CreatedRun, CreateRunRequest } from "./create-run.ts";
export { deleteOldRuns } from "./delete-old-runs.ts";
export { openRuns, type Runs, type RunsDeps } from "./open-runs.ts";
export type { ListRunsQuery, SeenRun } from "./read-runs.ts";
export type { Run, RunEvent } from "./run.ts";
export type { FollowedEvent } from "./run-feed.ts";
export { createRunTools } from "./tools/open-run-tools.ts";
