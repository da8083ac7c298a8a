import type { RunRecord } from "@gantry/sdk";
import { TextLink } from "../../ui/link.tsx";

interface RunSourceProps {
  source: NonNullable<RunRecord["source"]>;
  agentId: string;
}

const sources = {
  schedule: { label: "Schedule", tab: "schedules" },
  trigger: { label: "Trigger", tab: "triggers" },
} as const;

/** What started a run, if it was not a client. */
export function RunSource({ source: { type }, agentId }: RunSourceProps) {
  const { label, tab } = sources[type];
  return (
    <TextLink to="/agents/$agentId" params={{ agentId }} search={{ tab }}>
      {label}
    </TextLink>
  );
}
