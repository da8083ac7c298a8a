import type { AgentRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { MessageSquare, Trash2 } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Empty, Loaded, Notice } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { toast } from "../../ui/toast.ts";
import { Offer } from "../marketplace/marketplace-agent-page.tsx";
import { agentQuery, isOwn } from "./agent-queries.ts";
import { AgentState } from "./agent-state.tsx";
import { AgentWarnings } from "./agent-warnings.tsx";
import { PublishDialog } from "./publish-dialog.tsx";
import { EditTab } from "./tabs/edit-tab.tsx";
import { RevisionsTab } from "./tabs/revisions-tab.tsx";
import { RunTab } from "./tabs/run-tab.tsx";
import { RunsTab } from "./tabs/runs-tab.tsx";
import { SchedulesTab } from "./tabs/schedules-tab.tsx";
import { ShareTab } from "./tabs/share-tab.tsx";
import { TriggersTab } from "./tabs/triggers-tab.tsx";

export function AgentPage() {
  const { agentId } = useParams({ from: "/app/agents/$agentId" });
  const agent = useQuery(agentQuery(agentId));
  const { username } = useSession();
  if (!agent.data) {
    return (
      <Page title="Agent">
        <Loaded query={agent}>{() => null}</Loaded>
      </Page>
    );
  }
  if (isOwn(agent.data)) return <OwnAgent agent={agent.data} />;
  const { name, owner, slug } = agent.data;
  // A key confined to models sees only the public card of its owner's agents.
  if (owner === username) {
    return (
      <Page title={name} lead={agent.data.description}>
        <Offer card={agent.data} />
      </Page>
    );
  }
  return (
    <Page title={name}>
      <Panel>
        <Empty title={`This agent belongs to ${owner}`}>
          <Link
            to="/marketplace/$creator/$slug"
            params={{ creator: owner, slug }}
            className="text-accent hover:underline"
          >
            View in the marketplace
          </Link>
        </Empty>
      </Panel>
    </Page>
  );
}

function OwnAgent({ agent }: { agent: AgentRecord }) {
  const { tab = "run" } = useSearch({ from: "/app/agents/$agentId" });
  const navigate = useNavigate({ from: "/agents/$agentId" });
  const [publishing, setPublishing] = useState<string>();
  return (
    <Page
      title={agent.name}
      wide
      lead={agent.description}
      actions={<Actions agent={agent} onPublish={() => setPublishing(agent.latest_revision_id)} />}
    >
      <div className="-mt-3 flex flex-wrap items-center gap-2 text-muted">
        <AgentState agent={agent} />
        {agent.visibility === "public" && <Badge tone="info">Public</Badge>}
        <code className="text-xs">{agent.model}</code>
      </div>
      {agent.taken_down && (
        <Notice tone="warn" title="An admin took this agent down">
          {agent.taken_down.reason} You can still edit and run it. The agent stays private until an admin restores it.
        </Notice>
      )}
      <AgentWarnings warnings={agent.warnings} />
      <Tabs
        value={tab}
        onValue={(value) =>
          void navigate({ search: value === "run" ? {} : { tab: value as Exclude<typeof tab, "run"> } })
        }
        tabs={[
          { value: "run", label: "Run", content: <RunTab agent={agent} /> },
          { value: "edit", label: "Edit", content: <EditTab agent={agent} /> },
          { value: "revisions", label: "Revisions", content: <RevisionsTab agent={agent} /> },
          { value: "runs", label: "Runs", content: <RunsTab agentId={agent.id} /> },
          { value: "schedules", label: "Schedules", content: <SchedulesTab agent={agent} /> },
          { value: "triggers", label: "Triggers", content: <TriggersTab agent={agent} /> },
          { value: "share", label: "Share", content: <ShareTab key={agent.updated_at} agent={agent} /> },
        ]}
      />
      <PublishDialog agent={agent} revisionId={publishing} onClose={() => setPublishing(undefined)} />
    </Page>
  );
}

function Actions({ agent, onPublish }: { agent: AgentRecord; onPublish(): void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => api.agents.delete(agent.id),
    async onSuccess() {
      toast(`${agent.name} deleted`);
      // Leaves first: the open page would refetch the deleted agent.
      await navigate({ to: "/agents" });
      queries.removeQueries(agentQuery(agent.id));
      await queries.invalidateQueries({ queryKey: ["agents"] });
    },
  });
  return (
    <>
      <Link
        to="/agents/$agentId/chat/{-$thread}"
        params={{ agentId: agent.id, thread: undefined }}
        className={buttonClass()}
      >
        <MessageSquare size={14} /> Chat
      </Link>
      {agent.latest_revision_id !== agent.published_revision_id && (
        <Button kind="primary" onClick={onPublish}>
          {agent.published_revision_id === null ? "Publish" : "Publish changes"}
        </Button>
      )}
      <ConfirmButton
        label="Delete"
        icon={<Trash2 size={14} />}
        question={`Delete ${agent.name}?`}
        explanation="This can't be undone. Past runs stay readable; running ones continue."
        onConfirm={() => deleting.mutateAsync()}
      />
    </>
  );
}
