import { z } from "zod";
import { longestList, onlyParameters, wholeNumber } from "./query-schema.ts";
import { deliveriesQuery } from "./webhooks.ts";

/** Which part of a management list. */
export const managementPage = z.object({
  page: wholeNumber(1, longestList).default(1).describe("Counts from 1."),
  page_size: wholeNumber(1, 100).default(20).describe("How many entries at most."),
});

/** What a moment is, and that it is after another, the route checks itself: it is finer than a date of JavaScript. */
const moment = z.unknown().optional().meta({ type: "string" });
const moments = "ISO 8601, as `2026-01-31T23:59:59`; UTC unless it has a zone.";

/** What is added up must be what was asked for, so the lists of money refuse a parameter that they do not have. */
export const datedListQuery = onlyParameters({
  ...managementPage.shape,
  from_date: moment.describe(`Only those of this moment and later, by \`created_at\`. ${moments}`),
  to_date: moment.describe(`Only those of this moment and before, by \`created_at\`. ${moments}`),
});

export const expensesQuery = onlyParameters({
  start_date: moment.describe(`Left out: seven days before now. ${moments}`),
  end_date: moment.describe(`Left out: now. ${moments}`),
  page: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1).describe("Counts from 1."),
});

export const deliveryListQuery = managementPage.extend(deliveriesQuery.shape);
