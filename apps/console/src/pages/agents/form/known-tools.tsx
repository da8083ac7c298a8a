import type { ToolRecord } from "@gantry/sdk";
import { Badge } from "../../../ui/badge.tsx";
import { Choice } from "./choice.tsx";
import { toolGroups } from "./tool-groups.rules.ts";

interface KnownToolsProps {
  tools: readonly ToolRecord[];
  chosen: readonly string[];
  wanted: string;
  onToggle(id: string): void;
}

/** Tools of Gantry itself or of the identity tenant. */
export function KnownTools({ tools, chosen, wanted, onToggle }: KnownToolsProps) {
  const groups = toolGroups(tools, wanted);
  if (groups.length === 0) return <p className="px-3 py-2 text-muted">No tools match “{wanted}”</p>;
  return groups.map(({ name, tools: ofGroup }) => (
    <fieldset key={name}>
      <legend className="px-3 pt-2 pb-1 font-medium text-muted text-xs">{name}</legend>
      {ofGroup.map(({ id, description, kind }) => (
        <Choice
          key={id}
          isCode
          name={id}
          description={description}
          badge={kind === "write" && <Badge tone="warn">Writes</Badge>}
          isChosen={chosen.includes(id)}
          onToggle={() => onToggle(id)}
        />
      ))}
    </fieldset>
  ));
}
