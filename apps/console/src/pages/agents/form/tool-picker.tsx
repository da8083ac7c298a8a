import type { ToolRecord } from "@gantry/sdk";
import { useId, useState } from "react";
import { Badge } from "../../../ui/badge.tsx";
import { TextInput } from "../../../ui/field.tsx";
import { toolGroups } from "./tool-groups.rules.ts";

interface ToolPickerProps {
  tools: readonly ToolRecord[];
  chosen: readonly string[];
  onToggle(id: string): void;
}

export function ToolPicker({ tools, chosen, onToggle }: ToolPickerProps) {
  const [wanted, setWanted] = useState("");
  const groups = toolGroups(tools, wanted);
  return (
    <div className="rounded-md border border-line">
      <div className="border-line border-b p-2">
        <TextInput
          type="search"
          aria-label="Search tools"
          placeholder={`Search ${tools.length} tools`}
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
          // Enter would submit the surrounding form.
          onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
        />
      </div>
      <div className="max-h-72 overflow-y-auto">
        {groups.length === 0 && <p className="p-4 text-center text-muted">No tools match “{wanted}”</p>}
        {groups.map(({ name, tools: ofGroup }) => (
          <fieldset key={name}>
            <legend className="sticky top-0 w-full bg-sunken px-3 py-1 font-medium text-muted text-xs">{name}</legend>
            {ofGroup.map((tool) => (
              <ToolChoice
                key={tool.id}
                tool={tool}
                isChosen={chosen.includes(tool.id)}
                onToggle={() => onToggle(tool.id)}
              />
            ))}
          </fieldset>
        ))}
      </div>
    </div>
  );
}

function ToolChoice({ tool, isChosen, onToggle }: { tool: ToolRecord; isChosen: boolean; onToggle(): void }) {
  const id = useId();
  return (
    <label htmlFor={id} className="flex items-start gap-2.5 px-3 py-1.5 hover:bg-sunken/60">
      <input
        id={id}
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent"
        checked={isChosen}
        onChange={onToggle}
      />
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-2">
          <code>{tool.id}</code> {tool.kind === "write" && <Badge tone="warn">Writes</Badge>}
        </span>
        <span className="line-clamp-2 text-muted text-xs" title={tool.description}>
          {tool.description}
        </span>
      </span>
    </label>
  );
}
