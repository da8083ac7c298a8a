import { z } from "zod";
import { agentVisibilities } from "./agents.ts";
import { indexFileStatuses, largestItemPage, searchModes } from "./drives.ts";
import {
  choice,
  moment,
  moments,
  numberUpTo,
  onlyParameters,
  page,
  searchTextIfAny,
  wholeNumber,
} from "./query-schema.ts";
import { confirmationStatuses, runPhases, runStatuses } from "./runs.ts";

export const listQuery = onlyParameters(page());

export const agentsQuery = onlyParameters({ ...page(), visibility: choice(agentVisibilities).optional() });

/** The specification defines no parameters for this list, so the default is the maximum. */
export const revisionsQuery = onlyParameters(page(100));

export const diffQuery = z.object({
  against: searchTextIfAny.describe("The id of the revision to compare with. Default: the previous one."),
});

const runsPage = {
  ...page(),
  status: choice(runStatuses).optional(),
  phase: choice(runPhases).optional().describe("With `awaiting_confirmation`: runs that wait for your answer."),
  q: searchTextIfAny.describe("Part of the id of the run."),
  from_date: moment.describe(`Only runs created at or after this time. ${moments}`),
  to_date: moment.describe(`Only runs created at or before this time. ${moments}`),
};

export const agentRunsQuery = onlyParameters(runsPage);

export const runsQuery = onlyParameters({
  ...runsPage,
  agent_id: searchTextIfAny.describe("Only runs of this agent."),
  parent_run_id: searchTextIfAny.describe("Only runs started by this run."),
  thread_id: searchTextIfAny.describe("Only runs of this thread."),
});

export const runQuery = onlyParameters({
  wait: numberUpTo(60).default(0).describe("Seconds to wait for the end of the run."),
});

/** An empty number counts as 0. */
export const eventNumber = z.preprocess((given) => (given === "" ? "0" : given), wholeNumber(0, 999_999_999));

const eventsAfter = {
  after: eventNumber.default(0).describe("The number of the last event that you received."),
};

export const eventsQuery = onlyParameters(eventsAfter);

/** Replacements of the browser's EventSource add parameters, so unknown ones are ignored. */
export const liveEventsQuery = z.object({
  ...eventsAfter,
  text: choice(["true", "false"])
    .default("false")
    .describe("`true`: also send the text of model calls as it is written, as `text` events without an id."),
});

export const confirmationsQuery = onlyParameters({ ...page(), status: choice(confirmationStatuses).optional() });

export const triggersQuery = onlyParameters({
  ...page(),
  agent_id: searchTextIfAny.describe("Only triggers of this agent."),
});

export const marketplaceQuery = onlyParameters({
  ...page(),
  q: searchTextIfAny.describe("Part of the name, the description or `owner/slug`, case-insensitive."),
});

export const deleteQuery = z.object({
  force: choice(["true", "false"]).default("false").describe("Delete even if agents use it."),
});

/** The specification defines no pages for a directory, so the default fits nearly every directory. */
export const itemsQuery = onlyParameters({
  ...page(largestItemPage, largestItemPage),
  path: z.string("Must be a single value").default("/").describe("The directory."),
});

export const indexFilesQuery = onlyParameters({ ...page(), status: choice(indexFileStatuses).optional() });

export const driveSearchQuery = onlyParameters({
  q: z
    .string("Must be a single value")
    .max(1000, "At most 1000 characters")
    .refine((text) => text.isWellFormed() && !text.includes("\0"), "Must not contain NUL characters or lone surrogates")
    .refine((text) => text.trim() !== "", "Must not be blank")
    .describe("Words or a question."),
  limit: wholeNumber(1, 50).default(10).describe("Maximum number of results."),
  mode: choice(searchModes)
    .default("hybrid")
    .describe("By words (`text`), by meaning (`vector`, needs an embedding model), or by both (`hybrid`)."),
});
