import { useQuery } from "@tanstack/react-query";
import { Loaded } from "../../../ui/notice.tsx";
import { connectorQuery } from "../../identity/identity-queries.ts";
import { allToolServersQuery } from "../../tool-servers/tool-server-queries.ts";
import { toolsQuery } from "../agent-queries.ts";
import { type SectionOfDraft, toolIdOf } from "./agent-draft.rules.ts";
import { ChosenServer } from "./chosen-server.tsx";
import { ChosenTool } from "./chosen-tool.tsx";
import { Section } from "./section.tsx";
import { ToolPicker } from "./tool-picker.tsx";

export function ToolsSection({ draft: { tools, mcp_servers: bindings }, errors, onChange }: SectionOfDraft) {
  const known = useQuery(toolsQuery);
  const own = useQuery(allToolServersQuery);
  const tenant = useQuery(connectorQuery);
  const chosen = tools.flatMap((tool) => toolIdOf(tool) ?? []);
  const toggle = (id: string) =>
    onChange({ tools: chosen.includes(id) ? tools.filter((tool) => toolIdOf(tool) !== id) : [...tools, id] });
  const nameOf = (id: string) => own.data?.find((server) => server.id === id)?.name;
  return (
    <Section
      id="tools"
      title="Tools"
      startsOpen
      summary={[...chosen, ...bindings.map(({ id }) => nameOf(id) ?? "tool server")].join(", ") || "None"}
      error={errors.tools ?? errors.mcp_servers}
      hint="What the agent can do. By default it asks before deleting files or changing your identity tenant."
    >
      <Loaded query={known}>
        {(all) => (
          <>
            {chosen.length + bindings.length > 0 && (
              <ul aria-label="Chosen tools" className="divide-y divide-line rounded-md border border-line">
                {tools.map((tool) => {
                  const id = toolIdOf(tool);
                  if (id === undefined) return null;
                  return (
                    <ChosenTool
                      key={id}
                      tool={tool}
                      id={id}
                      record={all.find((other) => other.id === id)}
                      onChange={(after) => onChange({ tools: tools.map((other) => (other === tool ? after : other)) })}
                      onRemove={() => toggle(id)}
                    />
                  );
                })}
                {bindings.map((binding) => (
                  <ChosenServer
                    key={binding.id}
                    binding={binding}
                    name={own.data && (nameOf(binding.id) ?? null)}
                    onRemove={() => onChange({ mcp_servers: bindings.filter(({ id }) => id !== binding.id) })}
                  />
                ))}
              </ul>
            )}
            <ToolPicker
              tools={all}
              chosen={chosen}
              onToggle={toggle}
              toolServers={own.data ?? []}
              bindings={bindings}
              onBindings={(mcp_servers) => onChange({ mcp_servers })}
              tenant={tenant.data ?? null}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}
