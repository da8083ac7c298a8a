import type { ModelCard } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";

export function ModelBadges({ card: { kind, visibility, capacity } }: { card: ModelCard }) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      <Badge tone="info">{kind}</Badge>
      <Badge>{visibility}</Badge>
      {capacity === 0 && <Badge tone="warn">not active</Badge>}
    </span>
  );
}
