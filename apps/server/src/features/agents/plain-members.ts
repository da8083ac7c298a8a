import { isDeepStrictEqual } from "node:util";
import type { AgentSnapshot, AgentVisibility } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { type Caller, isPlainMember } from "../accounts/index.ts";
import type { Agent } from "./agent.ts";
import { bindingId } from "./binding.rules.ts";
import { secretsNamedBy } from "./fixed-request.rules.ts";
import { findRevision } from "./store.ts";

const only = "Only admins and owners of the team";

type Part = Partial<Pick<AgentSnapshot, "tools" | "webhook">>;

/**
 * Plain members of a team change its agents, with four exceptions: a public agent can cost the team money and speaks for
 * it, choosing where a request goes also chooses who gets the secrets in it, a webhook sends the runs of other members
 * away, and plain members do not use the connector.
 */
export function refusePlainMember(
  caller: Caller,
  { visibility, tools = [] }: { visibility: AgentVisibility; tools?: AgentSnapshot["tools"] | undefined },
): void {
  if (!isPlainMember(caller)) return;
  if (visibility === "public") throw fault("forbidden", `${only} may change, publish or delete public agents.`);
  if (secretsNamedBy(tools).length > 0) {
    throw fault("forbidden", `${only} may change or publish agents that send secrets of the team.`);
  }
  if (tools.some((tool) => bindingId(tool).startsWith("idp_"))) {
    throw fault("forbidden", `${only} may change or publish agents that use the identity connector.`);
  }
}

/** Without `before`, the published revision is replaced. An agent that a member may not change cannot be stripped or rolled back. */
export async function refuseChangeByPlainMember(
  sql: Sql,
  caller: Caller,
  agent: Pick<Agent, "id" | "visibility" | "publishedRevisionId"> | undefined,
  { before, after }: { before?: Part; after: Part },
): Promise<void> {
  if (!isPlainMember(caller)) return;
  const publishedId = agent?.publishedRevisionId ?? null;
  const published = agent && publishedId !== null ? await findRevision(sql, agent.id, publishedId) : undefined;
  const visibility = agent?.visibility ?? "private";
  for (const { tools } of [before, published?.snapshot, after].filter((part) => part !== undefined)) {
    refusePlainMember(caller, { visibility, tools });
  }
  const webhook = (before ?? published?.snapshot)?.webhook ?? null;
  if (!isDeepStrictEqual(after.webhook ?? null, webhook)) {
    throw fault(
      "forbidden",
      `${only} may change the webhook of an agent, because it receives the runs of all members.`,
    );
  }
}
