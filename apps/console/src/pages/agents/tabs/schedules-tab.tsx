import type { AgentRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarPlus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Empty, Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Paged } from "../../../ui/paged.tsx";
import { usePublishedSchema } from "../../schedules/edit-schedule.tsx";
import { ScheduleDialog } from "../../schedules/schedule-dialog.tsx";
import { ScheduleList } from "../../schedules/schedule-list.tsx";
import { schedulesQuery } from "../../schedules/schedule-queries.ts";

export function SchedulesTab({ agent }: { agent: AgentRecord }) {
  const { page = 1 } = useSearch({ from: "/app/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const list = useQuery(schedulesQuery(page, agent.id));
  const schema = usePublishedSchema(agent);
  const [isCreating, setCreating] = useState(false);
  return (
    <div className="flex flex-col gap-4">
      {agent.published_revision_id === null && (
        <Notice>Publish this agent to schedule it. Schedules run the published version.</Notice>
      )}
      <Panel
        flush
        title="Schedules"
        actions={
          <Button
            kind="primary"
            icon={<CalendarPlus size={14} />}
            disabled={schema === undefined}
            onClick={() => setCreating(true)}
          >
            New schedule
          </Button>
        }
      >
        <Paged
          query={list}
          onPage={(next, how) => void navigate({ search: { tab: "schedules", page: next }, ...how })}
          empty={
            <Empty title="No schedules yet">
              A schedule runs this agent at set times, such as every weekday at 9:00, also while you are away.
            </Empty>
          }
        >
          {(schedules) => <ScheduleList schedules={schedules} />}
        </Paged>
      </Panel>
      {isCreating && schema && (
        <ScheduleDialog agent={{ id: agent.id, name: agent.name, schema }} onClose={() => setCreating(false)} />
      )}
    </div>
  );
}
