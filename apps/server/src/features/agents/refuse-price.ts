import type { AgentSnapshot } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import type { Caller } from "../accounts/index.ts";
import type { Agent } from "./agent.ts";
import { findRevision } from "./store.ts";

type Pricing = AgentSnapshot["pricing"];

/** A key with a monthly limit was made to run things: what an agent earns is its owner's decision. */
export function refusePrice(caller: Caller, wanted: Pricing | undefined, standing: Pricing = { per_run: 0 }): void {
  if (caller.monthlyLimitMicros === null || wanted === undefined || wanted.per_run === standing.per_run) return;
  const message = "This key has a monthly limit and cannot change the price of agents. Use a key without a limit.";
  throw fault("forbidden", message);
}

/** Refuses a revision that others would buy at another price than that of the published one. */
export async function refusePublishedPrice(
  sql: Sql,
  caller: Caller,
  { id, publishedRevisionId }: Agent,
  { pricing }: AgentSnapshot,
): Promise<void> {
  if (caller.monthlyLimitMicros === null) return;
  const published = publishedRevisionId === null ? undefined : await findRevision(sql, id, publishedRevisionId);
  refusePrice(caller, pricing, published?.snapshot.pricing);
}
