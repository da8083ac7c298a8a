import { z } from "zod";
import { managementPage } from "./account-queries.ts";
import { modelKinds } from "./manifest-schema.ts";
import { choice, searchTextIfAny } from "./query-schema.ts";

/** What the list of models is narrowed to. */
export const modelFilter = z.object({
  kind: choice(modelKinds).optional(),
  q: searchTextIfAny.describe("A part of the endpoint id or of the title, in any case of letters."),
});

export const modelsQuery = managementPage.extend(modelFilter.shape);
