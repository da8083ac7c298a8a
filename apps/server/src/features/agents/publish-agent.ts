import { isId, publishAgentBody } from "@gantry/wire";
import { fault, throwIfAny } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import type { Caller } from "../accounts/index.ts";
import { takenDownConflict } from "../models/index.ts";
import { type AgentWithRevision, agentNotFound, revisionNotFound } from "./agent.ts";
import { requireOwn } from "./agents.ts";
import { boundAgentIds } from "./binding.rules.ts";
import { presentWarnings } from "./check-snapshot.ts";
import type { AgentsContext } from "./context.ts";
import { describeCycle, findCycleBeforeWriting } from "./find-cycle.ts";
import { isUnbound, unboundRequest } from "./fixed-request.rules.ts";
import { refuseChangeByPlainMember } from "./plain-members.ts";
import { refusePublishedPrice } from "./prices.ts";
import { recordAgent } from "./record-agent.ts";
import { findRevision, lockOwn, setPublished } from "./store.ts";

/**
 * Publishes a revision, by default the latest; the published one becomes superseded. Publish an older revision to roll
 * back. Refuses a revision whose fixed headers could go to any address.
 */
export async function publishAgent(
  context: AgentsContext,
  caller: Caller,
  agentId: string,
  body: unknown,
): Promise<AgentWithRevision> {
  const { agent } = await requireOwn(context, caller, agentId);
  const { revision_id: revisionId = agent.latestRevisionId } = parseOrThrow(publishAgentBody, body ?? {}, ["body"]);
  const { sql } = context.database;
  const wanted = isId("revision", revisionId) ? await findRevision(sql, agentId, revisionId) : undefined;
  if (!wanted) throw revisionNotFound();
  await refuseChangeByPlainMember(sql, caller, agent, { after: wanted.snapshot });
  await refusePublishedPrice(sql, caller, agent, wanted.snapshot);
  if (isUnbound(wanted.snapshot.tools)) {
    throwIfAny([{ type: "value_error", loc: ["body", "tools"], msg: unboundRequest }]);
  }
  const warnings = await presentWarnings(context, caller)(agent, wanted);
  await context.database.transaction(async (tx) => {
    // Drafts do not count: only published revisions run.
    const cycle = await findCycleBeforeWriting(tx, null, agentId, boundAgentIds(wanted.snapshot.tools));
    if (cycle) throw fault("conflict", await describeCycle(tx, caller.userId, agentId, cycle));
    const locked = await lockOwn(tx, caller.userId, agentId);
    if (!locked) throw agentNotFound();
    if (locked.takenDown) throw takenDownConflict("agent");
    await refusePublishedPrice(tx, caller, locked, wanted.snapshot);
    if (locked.publishedRevisionId === revisionId) return;
    await setPublished(tx, agentId, revisionId, context.clock.now());
    await recordAgent(tx, "agent.publish", { after: { agent: locked, revision: wanted } });
  });
  const after = await requireOwn(context, caller, agentId);
  return { ...after, revision: { ...after.revision, warnings } };
}
