import type { Api } from "../operation.ts";

/** What stands beside the records of a page of a management list. */
export const accountPage: Api["page"] = {
  page: { type: "integer" },
  page_size: { type: "integer" },
  total_count: { type: "integer", description: "Entries in the whole list." },
  total_pages: { type: "integer" },
};
