import type { AgentTool } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Loaded } from "../../../ui/notice.tsx";
import { toolsQuery } from "../agent-queries.ts";
import { toolIdOf } from "./agent-draft.rules.ts";
import { ChosenTool } from "./chosen-tool.tsx";
import { Section } from "./section.tsx";
import { ToolPicker } from "./tool-picker.tsx";

interface ToolsSectionProps {
  tools: readonly AgentTool[];
  error: string | undefined;
  onChange(tools: AgentTool[]): void;
}

export function ToolsSection({ tools, error, onChange }: ToolsSectionProps) {
  const known = useQuery(toolsQuery);
  const chosen = tools.flatMap((tool) => toolIdOf(tool) ?? []);
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? tools.filter((tool) => toolIdOf(tool) !== id) : [...tools, id]);
  const replace = (before: AgentTool, after: AgentTool) =>
    onChange(tools.map((tool) => (tool === before ? after : tool)));
  return (
    <Section
      title="Tools"
      error={error}
      hint="Tools the agent can use. By default it asks before deleting files or changing your identity tenant."
    >
      <Loaded query={known}>
        {(all) => (
          <>
            {chosen.length > 0 && (
              <ul aria-label="Chosen tools" className="divide-y divide-line rounded-md border border-line">
                {tools.map((tool) => {
                  const id = toolIdOf(tool);
                  if (id === undefined) return null;
                  return (
                    <ChosenTool
                      key={id}
                      tool={tool}
                      id={id}
                      record={all.find((tool) => tool.id === id)}
                      onChange={(after) => replace(tool, after)}
                      onRemove={() => toggle(id)}
                    />
                  );
                })}
              </ul>
            )}
            <ToolPicker tools={all} chosen={chosen} onToggle={toggle} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
