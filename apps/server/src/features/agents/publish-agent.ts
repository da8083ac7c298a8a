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
import { describeCircle, findCircleBeforeWriting } from "./find-circle.ts";
import { isUnbound, unboundRequest } from "./fixed-request.rules.ts";
import { refusePublishedPrice } from "./prices.ts";
import { findRevision, lockOwn, setPublished } from "./store.ts";

/**
 * Publishes a revision, the latest unless another one is named; the one published before becomes superseded. Publishing
 * an old one again is the way back, publishing the published one changes nothing. A revision whose fixed headers could
 * go to any address is refused. The answer warns of what is wrong with
 * the revision that was published.
 */
export async function publishAgent(
  context: AgentsContext,
  caller: Caller,
  agentId: string,
  body: unknown,
): Promise<AgentWithRevision> {
  const { agent } = await requireOwn(context, caller, agentId);
  // No body at all is one without fields.
  const { revision_id: revisionId = agent.latestRevisionId } = parseOrThrow(publishAgentBody, body ?? {}, ["body"]);
  const { sql } = context.database;
  const wanted = isId("revision", revisionId) ? await findRevision(sql, agentId, revisionId) : undefined;
  if (!wanted) throw revisionNotFound();
  await refusePublishedPrice(sql, caller, agent, wanted.snapshot);
  if (isUnbound(wanted.snapshot.tools)) {
    throwIfAny([{ type: "value_error", loc: ["body", "tools"], msg: unboundRequest }]);
  }
  const warnings = await presentWarnings(context, caller)(agent, wanted);
  await context.database.transaction(async (tx) => {
    // Drafts do not count here: what is published is what runs.
    const circle = await findCircleBeforeWriting(tx, null, agentId, boundAgentIds(wanted.snapshot.tools));
    if (circle) throw fault("conflict", await describeCircle(tx, caller.userId, agentId, circle));
    const locked = await lockOwn(tx, caller.userId, agentId);
    if (!locked) throw agentNotFound();
    if (locked.takenDown) throw takenDownConflict("agent");
    await refusePublishedPrice(tx, caller, locked, wanted.snapshot);
    if (locked.publishedRevisionId === revisionId) return;
    await setPublished(tx, agentId, revisionId, context.clock.now());
  });
  const after = await requireOwn(context, caller, agentId);
  return { ...after, revision: { ...after.revision, warnings } };
}
