import type { IdpActionRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function ActionBadges({ action }: { action: IdpActionRecord }) {
  return (
    <span className="flex flex-wrap gap-1">
      {action.kind === "read" ? <Badge>Read</Badge> : <Badge tone="info">Write</Badge>}
      {action.destructive && <Badge tone="bad">Irreversible</Badge>}
      {action.deprecated && <Badge tone="warn">Deprecated</Badge>}
      {action.allowed_by_token === true && <Badge tone="good">Allowed</Badge>}
      {action.allowed_by_token === false && <Badge tone="warn">Missing scope</Badge>}
    </span>
  );
}
