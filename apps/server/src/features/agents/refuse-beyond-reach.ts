import type { AgentSnapshot, AgentVisibility } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import {
  beyondKey,
  type Caller,
  isConfined,
  keyReaches,
  mayAdministrate,
  refuseConfined,
  refuseNarrowed,
} from "../accounts/index.ts";
import type { Agent } from "./agent.ts";
import { boundAgentIds } from "./binding.rules.ts";
import { beyondReach } from "./reach.rules.ts";
import { findModelsOf, findRevision } from "./store.ts";

/** Refuses a confined key an agent that would have these contents. */
export async function refuseContents(sql: Sql, caller: Caller, contents: Partial<AgentSnapshot>): Promise<void> {
  if (!isConfined(caller)) return;
  const why = beyondReach(caller, contents);
  if (why !== undefined) throw beyondKey(`manage agents ${why}`);
  const below = await findModelsOf(sql, caller.userId, boundAgentIds(contents.tools ?? []));
  if (below.every((model) => keyReaches(caller, model))) return;
  throw beyondKey("manage agents that call agents on models that it does not reach");
}

/**
 * Refuses a confined key an agent that stands, by its draft and by what is published. What is refused must not come in
 * between: whoever goes on to write calls this while the agent is locked.
 */
export async function refuseStanding(sql: Sql, caller: Caller, agent: Agent): Promise<void> {
  if (!isConfined(caller)) return;
  for (const revisionId of new Set([agent.publishedRevisionId, agent.latestRevisionId])) {
    const revision = revisionId === null ? undefined : await findRevision(sql, agent.id, revisionId);
    if (revision) await refuseContents(sql, caller, revision.snapshot);
  }
}

/** Who sees an agent, and what it costs them. Left out: as it is. */
export interface Sale {
  visibility: AgentVisibility | undefined;
  pricing: AgentSnapshot["pricing"] | undefined;
}

/** As an agent is that nobody has put on sale. */
const notOnSale = { visibility: "private", pricing: { per_run: 0 } } as const;

/**
 * What an agent earns is its owner's to say: refuses a key that was made to run things another price, and a confined one
 * another visibility, than stand.
 */
export function refuseSale(caller: Caller, wanted: Sale, standing: Sale = notOnSale): void {
  if (wanted.pricing && wanted.pricing.per_run !== standing.pricing?.per_run) {
    refuseNarrowed(caller, "change the price of agents");
  }
  if (wanted.visibility && wanted.visibility !== standing.visibility) {
    refuseConfined(caller, "change who sees an agent");
  }
}

/** Refuses it where others would buy what is published: at another price, or, with a confined key, at all. */
export async function refusePublishing(
  sql: Sql,
  caller: Caller,
  { id, visibility, publishedRevisionId }: Agent,
  { pricing }: AgentSnapshot,
): Promise<void> {
  if (mayAdministrate(caller)) return;
  const published = publishedRevisionId === null ? undefined : await findRevision(sql, id, publishedRevisionId);
  refuseSale(caller, { visibility, pricing }, { visibility, pricing: (published?.snapshot ?? notOnSale).pricing });
  if (visibility === "public" || pricing.per_run > 0) {
    refuseConfined(caller, "publish agents that are public or have a price");
  }
}
