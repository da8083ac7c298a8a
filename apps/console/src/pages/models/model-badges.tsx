import type { ModelCard } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import { kindLabels } from "./model-kinds.ts";

export function ModelBadges({ card: { kind, visibility, capacity } }: { card: ModelCard }) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      <Badge tone="info">{kindLabels[kind]}</Badge>
      <Badge>{visibility === "public" ? "Public" : "Private"}</Badge>
      {capacity === 0 && <Badge tone="warn">Inactive</Badge>}
    </span>
  );
}
