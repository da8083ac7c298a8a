import type { Database } from "../../engines/database/database.ts";
import type { Page } from "../accounts/index.ts";
import { type Listing, listListings, listTakeDowns, type TakeDown } from "./store.ts";

export interface Marketplace {
  /** Public agents of all users, last published first. */
  listAgents(query: { q: string | undefined; limit: number; offset: number }): Promise<Page<Listing>>;
  /** Agents and models that an admin took down, newest first. */
  listTakeDowns(range: { limit: number; offset: number }): Promise<Page<TakeDown>>;
}

export function openMarketplace({ database }: { database: Database }): Marketplace {
  return {
    listAgents: (query) => listListings(database.sql, query),
    listTakeDowns: (range) => listTakeDowns(database.sql, range),
  };
}
