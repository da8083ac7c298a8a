import type { AgentActivity } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import type { Page } from "../accounts/index.ts";
import { readActivity } from "./activity.ts";
import { type Listing, listListings, listTakeDowns, type TakeDown } from "./store.ts";

export interface Marketplace {
  /** Public agents of all users, last published first. */
  listAgents(query: { q: string | undefined; limit: number; offset: number }): Promise<Page<Listing>>;
  /** Recent runs of agents. The caller has been authorized for these. */
  activityOf(agentIds: readonly string[]): Promise<(agentId: string) => AgentActivity>;
  /** Agents and models that an admin took down, newest first. */
  listTakeDowns(range: { limit: number; offset: number }): Promise<Page<TakeDown>>;
}

export function openMarketplace({ database }: { database: Database }): Marketplace {
  return {
    listAgents: (query) => listListings(database.sql, query),
    activityOf: (agentIds) => readActivity(database.sql, agentIds),
    listTakeDowns: (range) => listTakeDowns(database.sql, range),
  };
}
