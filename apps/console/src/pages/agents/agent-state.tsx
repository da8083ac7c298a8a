import type { AgentRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

/** Whether an agent is published, and whether there is more than that. */
export function AgentState({ agent }: { agent: AgentRecord }) {
  if (agent.status !== "published") return <Badge tone="warn">draft</Badge>;
  return (
    <span className="inline-flex flex-wrap gap-1">
      <Badge tone="good">published</Badge>
      {agent.latest_revision_id !== agent.published_revision_id && <Badge tone="warn">newer draft</Badge>}
    </span>
  );
}
