import { z } from "zod";
import { agentVisibilities } from "./agents.ts";
import { largestItemPage } from "./drives.ts";
import { choice, listParameters, numberUpTo, page, searchTextIfAny, wholeNumber } from "./query-schema.ts";
import { runStatuses } from "./runs.ts";

/** The queries of the agents platform. What a route reads and what the document lists are these. */

export const listQuery = listParameters(page());

export const agentsQuery = listParameters({ ...page(), visibility: choice(agentVisibilities).optional() });

/** The specification gives this list no parameters, so by default it is as long as a list may be. */
export const revisionsQuery = listParameters(page(100));

/** Left out: the revision before. */
export const diffQuery = z.object({ against: searchTextIfAny });

const runsPage = { ...page(), status: choice(runStatuses).optional() };

export const agentRunsQuery = listParameters(runsPage);

export const runsQuery = listParameters({ ...runsPage, parent_run_id: searchTextIfAny });

/** In seconds: how long the answer waits for the end of the run. */
export const runQuery = z.object({ wait: numberUpTo(60).default(0) });

/** The number of an event; an empty one is none. */
export const eventNumber = z.preprocess((given) => (given === "" ? "0" : given), wholeNumber(0, 999_999_999));

/** Where a reader was. */
export const eventsQuery = z.object({ after: eventNumber.default(0) });

export const marketplaceQuery = listParameters({ ...page(), q: searchTextIfAny });

/** `force`: also what agents use. */
export const deleteQuery = z.object({ force: choice(["true", "false"]).default("false") });

/** The specification gives a directory no pages, so one is as long as nearly every directory; the rest is asked for. */
export const itemsQuery = listParameters({
  ...page(largestItemPage, largestItemPage),
  path: z.string("Must be one text").default("/"),
});
