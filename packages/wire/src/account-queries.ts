import { z } from "zod";
import { modelKinds } from "./manifest-schema.ts";
import { choice, longestList, onlyParameters, searchTextIfAny, wholeNumber } from "./query-schema.ts";
import { deliveriesQuery } from "./webhooks.ts";

export const managementPage = z.object({
  page: wholeNumber(1, longestList).default(1).describe("Page number, from 1."),
  page_size: wholeNumber(1, 100).default(20).describe("Maximum number of entries."),
});

/** The route parses these times itself: they are more precise than a JavaScript date. */
const moment = z.unknown().optional().meta({ type: "string" });
const moments = "ISO 8601, such as `2026-01-31T23:59:59`; UTC unless a zone is given.";

/** Sums must match the request, so lists of money refuse unknown parameters. */
export const datedListQuery = onlyParameters({
  ...managementPage.shape,
  from_date: moment.describe(`Only entries at or after this time, by \`created_at\`. ${moments}`),
  to_date: moment.describe(`Only entries at or before this time, by \`created_at\`. ${moments}`),
});

export const expensesQuery = onlyParameters({
  start_date: moment.describe(`Default: seven days ago. ${moments}`),
  end_date: moment.describe(`Default: now. ${moments}`),
  page: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1).describe("Page number, from 1."),
});

export const deliveryListQuery = managementPage.extend(deliveriesQuery.shape);

export const modelFilter = z.object({
  kind: choice(modelKinds).optional(),
  q: searchTextIfAny.describe("Part of the endpoint id or of the title, case-insensitive."),
});

export const modelsQuery = managementPage.extend(modelFilter.shape);
