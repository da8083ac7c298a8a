import { z } from "zod";
import { agentVisibilities } from "./agents.ts";
import { largestItemPage } from "./drives.ts";
import { choice, numberUpTo, page, searchTextIfAny, wholeNumber } from "./query-schema.ts";
import { runStatuses } from "./runs.ts";

/** The queries of the agents platform. What a route reads and what the document lists are these. */

export const listQuery = z.object(page());

export const agentsQuery = z.object({ ...page(), visibility: choice(agentVisibilities).optional() });

/** The specification gives this list no parameters, so by default it is as long as a list may be. */
export const revisionsQuery = z.object(page(100));

/** Left out: the revision before. */
export const diffQuery = z.object({ against: searchTextIfAny });

export const agentRunsQuery = z.object({ ...page(), status: choice(runStatuses).optional() });

export const runsQuery = agentRunsQuery.extend({ parent_run_id: searchTextIfAny });

/** In seconds: how long the answer waits for the end of the run. */
export const runQuery = z.object({ wait: numberUpTo(60).default(0) });

/** The number of an event; an empty one is none. */
export const eventNumber = z.preprocess((given) => (given === "" ? "0" : given), wholeNumber(0, 999_999_999));

/** Where a reader was. */
export const eventsQuery = z.object({ after: eventNumber.default(0) });

export const marketplaceQuery = z.object({ ...page(), q: searchTextIfAny });

/** `force`: also what agents use. */
export const deleteQuery = z.object({ force: choice(["true", "false"]).default("false") });

/** The specification gives a directory no pages, so one is as long as nearly every directory; the rest is asked for. */
export const itemsQuery = z.object({
  ...page(largestItemPage, largestItemPage),
  path: z.string("Must be one text").default("/"),
});
