import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { TextLink } from "../../ui/link.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { ScheduleList } from "../schedules/schedule-list.tsx";
import { schedulesQuery } from "../schedules/schedule-queries.ts";
import { TriggerList } from "../triggers/trigger-list.tsx";
import { triggersQuery } from "../triggers/trigger-queries.ts";

/** Everything that starts runs without you. */
export function AutomationsPage() {
  const { tab = "schedules" } = useSearch({ from: "/app/automations" });
  const navigate = useNavigate({ from: "/automations" });
  return (
    <Page title="Automation" lead="Schedules and triggers that start runs of agents while you are away.">
      <Tabs
        value={tab}
        onValue={(value) => void navigate({ search: value === "triggers" ? { tab: "triggers" } : {} })}
        tabs={[
          { value: "schedules", label: "Schedules", content: <AllSchedules /> },
          { value: "triggers", label: "Triggers", content: <AllTriggers /> },
        ]}
      />
    </Page>
  );
}

function AllSchedules() {
  const { page = 1 } = useSearch({ from: "/app/automations" });
  const navigate = useNavigate({ from: "/automations" });
  const list = useQuery(schedulesQuery(page));
  return (
    <Panel flush>
      <Paged
        query={list}
        onPage={(next, how) => void navigate({ search: { page: next }, ...how })}
        empty={
          <Empty title="No schedules yet">
            Open one of <TextLink to="/agents">your agents</TextLink> and choose Schedules.
          </Empty>
        }
      >
        {(schedules) => <ScheduleList schedules={schedules} showsAgent />}
      </Paged>
    </Panel>
  );
}

function AllTriggers() {
  const { page = 1 } = useSearch({ from: "/app/automations" });
  const navigate = useNavigate({ from: "/automations" });
  const list = useQuery(triggersQuery(page));
  return (
    <Panel flush>
      <Paged
        query={list}
        onPage={(next, how) => void navigate({ search: { tab: "triggers", page: next }, ...how })}
        empty={
          <Empty title="No triggers yet">
            Open one of <TextLink to="/agents">your agents</TextLink> and choose Triggers.
          </Empty>
        }
      >
        {(triggers) => <TriggerList triggers={triggers} showsAgent />}
      </Paged>
    </Panel>
  );
}
