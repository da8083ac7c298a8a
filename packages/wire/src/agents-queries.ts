import { z } from "zod";
import { agentVisibilities } from "./agents.ts";
import { largestItemPage } from "./drives.ts";
import { choice, numberUpTo, onlyParameters, page, searchTextIfAny, wholeNumber } from "./query-schema.ts";
import { runStatuses } from "./runs.ts";

/** The queries of the agents platform. What a route reads and what the document lists are these. */

export const listQuery = onlyParameters(page());

export const agentsQuery = onlyParameters({ ...page(), visibility: choice(agentVisibilities).optional() });

/** The specification gives this list no parameters, so by default it is as long as a list may be. */
export const revisionsQuery = onlyParameters(page(100));

export const diffQuery = z.object({
  against: searchTextIfAny.describe("The id of the revision to compare with; left out: the one before."),
});

const runsPage = { ...page(), status: choice(runStatuses).optional() };

export const agentRunsQuery = onlyParameters(runsPage);

export const runsQuery = onlyParameters({
  ...runsPage,
  parent_run_id: searchTextIfAny.describe("Only the runs that this one started."),
});

export const runQuery = onlyParameters({
  wait: numberUpTo(60).default(0).describe("Seconds that the answer waits for the end of the run."),
});

/** The number of an event; an empty one is none. */
export const eventNumber = z.preprocess((given) => (given === "" ? "0" : given), wholeNumber(0, 999_999_999));

const eventsAfter = {
  after: eventNumber
    .default(0)
    .describe("The number of the last event that was received; what follows it is answered."),
};

export const eventsQuery = onlyParameters(eventsAfter);

/** Of the live events: what stands in for a browser's own reader of them adds parameters, so others are let be. */
export const liveEventsQuery = z.object(eventsAfter);

export const marketplaceQuery = onlyParameters({
  ...page(),
  q: searchTextIfAny.describe("A part of the name or of `owner/slug`, in any case of letters."),
});

export const deleteQuery = z.object({
  force: choice(["true", "false"]).default("false").describe("Also what agents use."),
});

/** The specification gives a directory no pages, so one is as long as nearly every directory; the rest is asked for. */
export const itemsQuery = onlyParameters({
  ...page(largestItemPage, largestItemPage),
  path: z.string("Must be one text").default("/").describe("The directory."),
});
