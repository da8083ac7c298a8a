import type { Api } from "../operation.ts";

/** The fields of a paged list. */
export const accountPage: Api["page"] = {
  page: { type: "integer" },
  page_size: { type: "integer" },
  total_count: { type: "integer", description: "Entries on all pages." },
  total_pages: { type: "integer" },
};
