import type { IdpActionRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function ActionBadges({ action }: { action: IdpActionRecord }) {
  return (
    <span className="flex flex-wrap gap-1">
      {action.kind === "read" ? <Badge>read</Badge> : <Badge tone="info">write</Badge>}
      {action.destructive && <Badge tone="bad">irreversible</Badge>}
      {action.deprecated && <Badge tone="warn">deprecated</Badge>}
      {action.allowed_by_token === true && <Badge tone="good">allowed</Badge>}
      {action.allowed_by_token === false && <Badge tone="warn">no scope</Badge>}
    </span>
  );
}
