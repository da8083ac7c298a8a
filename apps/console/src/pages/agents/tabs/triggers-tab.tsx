import type { AgentRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Empty, Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Paged } from "../../../ui/paged.tsx";
import { usePublishedSchema } from "../../schedules/edit-schedule.tsx";
import { TriggerAddress } from "../../triggers/trigger-address.tsx";
import { TriggerDialog } from "../../triggers/trigger-dialog.tsx";
import { TriggerList } from "../../triggers/trigger-list.tsx";
import { triggersQuery } from "../../triggers/trigger-queries.ts";

export function TriggersTab({ agent }: { agent: AgentRecord }) {
  const { page = 1 } = useSearch({ from: "/app/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const list = useQuery(triggersQuery(page, agent.id));
  const schema = usePublishedSchema(agent);
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<{ url: string; isSigned: boolean }>();
  return (
    <div className="flex flex-col gap-4">
      {agent.published_revision_id === null && (
        <Notice>Publish this agent to create triggers. Triggers run the published version.</Notice>
      )}
      <Panel
        flush
        title="Triggers"
        actions={
          <Button
            kind="primary"
            icon={<Plus size={14} />}
            disabled={schema === undefined}
            onClick={() => setCreating(true)}
          >
            New trigger
          </Button>
        }
      >
        <Paged
          query={list}
          onPage={(next, how) => void navigate({ search: { tab: "triggers", page: next }, ...how })}
          empty={
            <Empty title="No triggers yet">
              A trigger is an address that another service calls to start this agent, such as a webhook of GitHub or
              Stripe.
            </Empty>
          }
        >
          {(triggers) => <TriggerList triggers={triggers} />}
        </Paged>
      </Panel>
      {isCreating && schema && (
        <TriggerDialog
          agent={{ id: agent.id, name: agent.name, schema }}
          onCreated={(url, isSigned) => setCreated({ url, isSigned })}
          onClose={() => setCreating(false)}
        />
      )}
      <TriggerAddress url={created?.url} isSigned={created?.isSigned ?? false} onClose={() => setCreated(undefined)} />
    </div>
  );
}
