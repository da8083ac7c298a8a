import { AdvancedSection } from "./advanced-section.tsx";
import type { SectionOfDraft } from "./agent-draft.rules.ts";
import { AgentsSection } from "./agents-section.tsx";
import { BasicsSection } from "./basics-section.tsx";
import { DrivesSection } from "./drives-section.tsx";
import { GoalSection } from "./goal-section.tsx";
import { rowsOf } from "./input-rows.rules.ts";
import { InputSection } from "./input-section.tsx";
import { MemorySection } from "./memory-section.tsx";
import { ModelSection } from "./model-section.tsx";
import { OutputSection } from "./output-section.tsx";
import { SectionNav } from "./section-nav.tsx";
import { ToolsSection } from "./tools-section.tsx";
import type { GoalInputs } from "./use-agent-draft.ts";
import { WebhookSection } from "./webhook-section.tsx";

interface AgentFieldsProps extends SectionOfDraft {
  inputs: GoalInputs;
  agentId: string | undefined;
}

export function AgentFields({ inputs, agentId, ...section }: AgentFieldsProps) {
  const { draft, errors, onChange } = section;
  const subAgents = draft.tools.filter((tool) => typeof tool === "object" && tool.type === "agent").length;
  return (
    <>
      <SectionNav
        sections={[
          { id: "basics", title: "Basics" },
          { id: "goal", title: "Goal" },
          { id: "model", title: "Model" },
          { id: "inputs", title: "Inputs", count: rowsOf(draft.input_schema).length },
          { id: "tools", title: "Tools", count: draft.tools.length - subAgents + draft.mcp_servers.length },
          { id: "knowledge", title: "Knowledge", count: draft.drives.length },
          { id: "memory", title: "Memory" },
          { id: "sub-agents", title: "Sub-agents", count: subAgents },
          { id: "output", title: "Output" },
          { id: "webhook", title: "Webhook" },
          { id: "advanced", title: "Advanced" },
          // Beside the form on wide screens.
          { id: "test", title: "Test", className: "xl:hidden" },
        ]}
      />
      <BasicsSection {...section} />
      <GoalSection {...section} inputs={inputs} />
      <ModelSection {...section} />
      <InputSection
        schema={draft.input_schema}
        error={errors.input_schema}
        onChange={(input_schema) => onChange({ input_schema })}
      />
      <ToolsSection {...section} />
      <DrivesSection drives={draft.drives} error={errors.drives} onChange={(drives) => onChange({ drives })} />
      <MemorySection {...section} />
      <AgentsSection tools={draft.tools} agentId={agentId} onChange={(tools) => onChange({ tools })} />
      <OutputSection {...section} />
      <WebhookSection {...section} />
      <AdvancedSection {...section} />
    </>
  );
}
