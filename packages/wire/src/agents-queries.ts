import { z } from "zod";
import { agentVisibilities } from "./agents.ts";
import { largestItemPage } from "./drives.ts";
import { choice, numberUpTo, onlyParameters, page, searchTextIfAny, wholeNumber } from "./query-schema.ts";
import { runStatuses } from "./runs.ts";

export const listQuery = onlyParameters(page());

export const agentsQuery = onlyParameters({ ...page(), visibility: choice(agentVisibilities).optional() });

/** The specification defines no parameters for this list, so the default is the maximum. */
export const revisionsQuery = onlyParameters(page(100));

export const diffQuery = z.object({
  against: searchTextIfAny.describe("The id of the revision to compare with. Default: the previous one."),
});

const runsPage = { ...page(), status: choice(runStatuses).optional() };

export const agentRunsQuery = onlyParameters(runsPage);

export const runsQuery = onlyParameters({
  ...runsPage,
  parent_run_id: searchTextIfAny.describe("Only runs started by this run."),
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
export const liveEventsQuery = z.object(eventsAfter);

export const marketplaceQuery = onlyParameters({
  ...page(),
  q: searchTextIfAny.describe("Part of the name or of `owner/slug`, case-insensitive."),
});

export const deleteQuery = z.object({
  force: choice(["true", "false"]).default("false").describe("Delete even if agents use it."),
});

/** The specification defines no pages for a directory, so the default fits nearly every directory. */
export const itemsQuery = onlyParameters({
  ...page(largestItemPage, largestItemPage),
  path: z.string("Must be a single value").default("/").describe("The directory."),
});
