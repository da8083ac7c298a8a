import type { AgentRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function AgentState({ agent }: { agent: AgentRecord }) {
  if (agent.status !== "published") return <Badge tone="warn">Draft</Badge>;
  return (
    <span className="inline-flex flex-wrap gap-1 md:flex-nowrap">
      <Badge tone="good">Published</Badge>
      {agent.latest_revision_id !== agent.published_revision_id && <Badge tone="warn">Newer draft</Badge>}
    </span>
  );
}
