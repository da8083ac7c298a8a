import type { AgentTool } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Badge } from "../../../ui/badge.tsx";
import { Checkbox } from "../../../ui/field.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { ownAgentsQuery } from "../agent-queries.ts";
import { Section } from "./section.tsx";

interface AgentsSectionProps {
  tools: readonly AgentTool[];
  /** The edited agent, which cannot call itself. */
  agentId: string | undefined;
  onChange(tools: AgentTool[]): void;
}

const agentIdOf = (tool: AgentTool) => (typeof tool === "object" && tool.type === "agent" ? tool.agent_id : undefined);

/** Lists the user's own agents. Agents of other users can be added as JSON. */
export function AgentsSection({ tools, agentId, onChange }: AgentsSectionProps) {
  const own = useQuery(ownAgentsQuery);
  const chosen = tools.flatMap((tool) => agentIdOf(tool) ?? []);
  const toggle = (id: string) =>
    onChange(
      chosen.includes(id)
        ? tools.filter((tool) => agentIdOf(tool) !== id)
        : [...tools, { type: "agent", agent_id: id }],
    );
  return (
    <Section
      title="Other agents"
      hint="Agents that this agent can call as tools. Their runs count toward its time and cost limits."
    >
      <Loaded query={own}>
        {(agents) => {
          const others = agents.filter(({ id }) => id !== agentId);
          const foreign = chosen.filter((id) => !agents.some((agent) => agent.id === id));
          return (
            <ul className="flex max-h-56 flex-col gap-1.5 overflow-y-auto">
              {others.length + foreign.length === 0 && <li className="text-muted">You have no other agents.</li>}
              {others.map(({ id, name, slug, status }) => (
                <li key={id}>
                  <Checkbox
                    checked={chosen.includes(id)}
                    onChange={() => toggle(id)}
                    label={
                      <span className="flex flex-wrap items-center gap-2">
                        {name} <code className="text-muted text-xs">{slug}</code>
                        {status !== "published" && <Badge tone="warn">Not published</Badge>}
                      </span>
                    }
                  />
                </li>
              ))}
              {foreign.map((id) => (
                <li key={id}>
                  <Checkbox checked onChange={() => toggle(id)} label={<code>{id}</code>} />
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Section>
  );
}
