import type { AgentSetup } from "@gantry/sdk";
import { type AgentDraft, emptyDraft } from "../form/agent-draft.rules.ts";

export interface AgentTemplate {
  /** The name of the example's file. */
  id: string;
  draft: AgentDraft;
  /** Drives, a schedule or a trigger that are created with the agent. */
  setup: AgentSetup | undefined;
}

/** The examples of the repository, so that templates and documentation cannot differ. */
const files = import.meta.glob<Partial<AgentDraft>>(
  ["../../../../../../examples/agents/*.json", "!../../../../../../examples/agents/*.setup.json"],
  { eager: true, import: "default" },
);
const setups = import.meta.glob<AgentSetup>("../../../../../../examples/agents/*.setup.json", {
  eager: true,
  import: "default",
});

export const templates: readonly AgentTemplate[] = Object.entries(files).map(([path, fields]) => ({
  id: path.replace(/^.*\/(.+)\.json$/, "$1"),
  draft: { ...emptyDraft, ...fields },
  setup: setups[path.replace(/\.json$/, ".setup.json")],
}));

export const templateOf = (id: string | undefined): AgentTemplate | undefined =>
  templates.find((template) => template.id === id);
