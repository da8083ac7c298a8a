import { z } from "zod";
import { fileOrigins } from "./files.ts";
import { modelKinds } from "./manifest-schema.ts";
import { choice, longestList, moment, moments, onlyParameters, searchTextIfAny, wholeNumber } from "./query-schema.ts";
import { deliveriesQuery } from "./webhooks.ts";

export const managementPage = z.object({
  page: wholeNumber(1, longestList).default(1).describe("Page number, from 1."),
  page_size: wholeNumber(1, 100).default(20).describe("Maximum number of entries."),
});

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

export const filesQuery = managementPage.extend({
  q: searchTextIfAny.describe(
    "Part of the file name or of the prompt, case-insensitive, or the id of the file or its prediction.",
  ),
  origin: choice(fileOrigins).optional().describe("Only files of this origin."),
  from_date: datedListQuery.shape.from_date,
  to_date: datedListQuery.shape.to_date,
});

export const deliveryListQuery = managementPage.extend(deliveriesQuery.shape);

export const modelFilter = z.object({
  kind: choice(modelKinds).optional(),
  q: searchTextIfAny.describe("Part of the endpoint id, the title or the description, case-insensitive."),
});

/** For the list of users: people and teams, or one kind. */
export const usersQuery = managementPage.extend({ kind: choice(["person", "team"]).optional() });

export const modelsQuery = managementPage.extend(modelFilter.shape);
