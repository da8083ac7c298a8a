import type { Database } from "../../engines/database/database.ts";
import type { Page } from "../accounts/index.ts";
import { type Listing, listListings } from "./store.ts";

export interface Marketplace {
  /** The public, published agents of everybody, newest publication first. */
  listAgents(query: { q: string | undefined; limit: number; offset: number }): Promise<Page<Listing>>;
}

export function openMarketplace({ database }: { database: Database }): Marketplace {
  return { listAgents: (query) => listListings(database.sql, query) };
}
