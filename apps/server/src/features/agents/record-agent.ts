import type { AuditAction } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { changedNames, record } from "../audit/index.ts";
import type { AgentWithRevision } from "./agent.ts";

type AgentAction = Extract<AuditAction, `agent.${string}`>;

/** Of a snapshot that changed, the log shows what users see and pay, and otherwise the names of the changed fields. */
export function recordAgent(
  tx: Sql,
  action: AgentAction,
  { before, after, reason }: { before?: AgentWithRevision; after?: AgentWithRevision; reason?: string | undefined },
): Promise<void> {
  const pair = after ?? before;
  if (!pair) throw new Error("a record of no agent");
  const { id, ownerId, owner, slug } = pair.agent;
  const changed = before && after ? changedNames(before.revision.snapshot, after.revision.snapshot) : undefined;
  return record(tx, {
    action,
    object: { id, name: `${owner}/${slug}` },
    ownerId,
    before: before && fieldsOf(before),
    after: after && { ...fieldsOf(after), changed, reason },
  });
}

function fieldsOf({ agent: { slug, visibility }, revision: { number, snapshot } }: AgentWithRevision) {
  return { name: snapshot.name, slug, visibility, pricing: snapshot.pricing, revision: number };
}
