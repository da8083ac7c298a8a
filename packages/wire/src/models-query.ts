import { z } from "zod";
import { managementPage } from "./account-queries.ts";
import { modelKinds } from "./manifest-schema.ts";
import { choice, searchTextIfAny } from "./query-schema.ts";

export const modelFilter = z.object({
  kind: choice(modelKinds).optional(),
  q: searchTextIfAny.describe("Part of the endpoint id or of the title, case-insensitive."),
});

export const modelsQuery = managementPage.extend(modelFilter.shape);
