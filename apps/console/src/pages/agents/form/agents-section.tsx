import type { AgentTool } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Badge } from "../../../ui/badge.tsx";
import { Checkbox } from "../../../ui/field.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { ownAgentsQuery } from "../agent-queries.ts";
import { Choice } from "./choice.tsx";
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
      id="sub-agents"
      title="Sub-agents"
      startsOpen={chosen.length > 0}
      summary={chosen.length === 0 ? "None" : `${chosen.length} chosen`}
      hint="Agents that this agent can call as tools. Their runs count toward its time and cost limits."
    >
      <Loaded query={own}>
        {(agents) => {
          const others = agents.filter(({ id }) => id !== agentId);
          const foreign = chosen.filter((id) => !agents.some((agent) => agent.id === id));
          return (
            <ul className="-mx-3 flex max-h-72 flex-col gap-0.5 overflow-y-auto">
              {others.length + foreign.length === 0 && <li className="px-3 text-muted">You have no other agents.</li>}
              {others.map((agent) => (
                <li key={agent.id}>
                  <Choice
                    name={agent.name}
                    description={agent.description}
                    badge={agent.status !== "published" && <Badge tone="warn">Not published</Badge>}
                    isChosen={chosen.includes(agent.id)}
                    onToggle={() => toggle(agent.id)}
                  />
                </li>
              ))}
              {foreign.map((id) => (
                <li key={id} className="px-3 py-1">
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
