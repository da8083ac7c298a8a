import type { AgentCard, AgentRecord, ScheduleRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Dialog } from "../../ui/dialog.tsx";
import { Loaded } from "../../ui/notice.tsx";
import { agentQuery, isOwn, revisionQuery } from "../agents/agent-queries.ts";
import { ScheduleDialog } from "./schedule-dialog.tsx";

/** The input schema of the version that others and schedules run. Undefined: still loading, or not published. */
export function usePublishedSchema(agent: AgentRecord | AgentCard | undefined): Record<string, unknown> | undefined {
  const own = agent && isOwn(agent) ? agent : undefined;
  const published = own?.published_revision_id ?? null;
  const isOlder = own !== undefined && published !== null && published !== own.latest_revision_id;
  const revision = useQuery({ ...revisionQuery(own?.id ?? "", published ?? ""), enabled: isOlder });
  if (!agent) return undefined;
  if (own && published === null) return undefined;
  return isOlder ? revision.data?.input_schema : agent.input_schema;
}

interface EditScheduleProps {
  schedule: ScheduleRecord;
  onClose(): void;
}

export function EditSchedule({ schedule, onClose }: EditScheduleProps) {
  const agent = useQuery(agentQuery(schedule.agent_id));
  const schema = usePublishedSchema(agent.data);
  if (agent.data && schema) {
    const price = isOwn(agent.data) ? {} : { price: agent.data.pricing.per_run };
    return (
      <ScheduleDialog
        agent={{ id: agent.data.id, name: agent.data.name, schema, ...price }}
        schedule={schedule}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog open onClose={onClose} title="Edit schedule">
      <Loaded query={agent}>
        {(found) => (
          <p className="text-muted">
            {isOwn(found) && found.published_revision_id === null
              ? "Publish the agent first. Schedules run the published version."
              : "Loading…"}
          </p>
        )}
      </Loaded>
    </Dialog>
  );
}
