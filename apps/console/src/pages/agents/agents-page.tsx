import type { AgentCard, AgentRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, TriangleAlert } from "lucide-react";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";
import { mayOpen } from "../../shell/key-reach.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { money } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { isOwn } from "./agent-queries.ts";
import { AgentState } from "./agent-state.tsx";
import { wordsOfWarning } from "./warning-words.rules.ts";

export function AgentsPage() {
  const { page = 1 } = useSearch({ from: "/app/agents" });
  const navigate = useNavigate({ from: "/agents" });
  const manages = mayOpen(useSession().key, "unconfined keys");
  const list = useQuery({
    queryKey: ["agents", "page", { page }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { agents: rows, total } = await api.agents.list({ ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="My agents"
      lead={
        manages
          ? "An agent is a goal, a model and tools. Runs use what is published; changes wait as a draft."
          : "The agents that this key may run. It is limited to models, so it does not manage agents."
      }
      actions={
        manages && (
          <Link to="/agents/new" className={buttonClass("primary")}>
            <Plus size={14} /> New agent
          </Link>
        )
      }
    >
      <Panel flush>
        <PagedTable
          label="My agents"
          query={list}
          keyOf={({ id }) => id}
          columns={columns}
          onPage={(next, how) => void navigate({ search: { page: next }, ...how })}
          empty={
            <Empty title="No agents yet">
              {manages && (
                <>
                  <Link to="/agents/new" className="text-accent hover:underline">
                    Create one
                  </Link>{" "}
                  with a goal and a tool or two.{" "}
                </>
              )}
              Try one of the{" "}
              <Link to="/marketplace" className="text-accent hover:underline">
                marketplace
              </Link>
              .
            </Empty>
          }
        />
      </Panel>
    </Page>
  );
}

const columns: readonly Column<AgentRecord | AgentCard>[] = [
  {
    head: "Name",
    cell: (agent) => (
      <span className="flex min-w-32 items-center gap-2">
        <Link
          to="/agents/$agentId"
          params={{ agentId: agent.id }}
          className="wrap-anywhere font-medium hover:text-accent hover:underline"
        >
          {agent.name}
        </Link>
        {isOwn(agent) && agent.warnings.length > 0 && <Warnings warnings={agent.warnings} />}
      </span>
    ),
  },
  {
    head: "Status",
    cell: (agent) => (isOwn(agent) ? <AgentState agent={agent} /> : <Badge tone="good">published</Badge>),
  },
  {
    head: "Visibility",
    wide: true,
    cell: ({ visibility }) => (visibility === "public" ? <Badge tone="info">public</Badge> : <Badge>private</Badge>),
  },
  { head: "Model", wide: true, cell: (agent) => isOwn(agent) && <code className="text-xs">{agent.model}</code> },
  {
    head: "Price",
    align: "right",
    wide: true,
    cell: ({ pricing }) => (pricing.per_run > 0 ? money(pricing.per_run) : <span className="text-muted">none</span>),
  },
  {
    head: "Changed",
    align: "right",
    wide: true,
    cell: (agent) => <Moment at={isOwn(agent) ? agent.updated_at : agent.published_at} />,
  },
];

function Warnings({ warnings }: Pick<AgentRecord, "warnings">) {
  const said = warnings.map(wordsOfWarning).join("\n");
  return (
    <span title={said} className="inline-flex shrink-0 items-center gap-1 text-warn text-xs">
      <TriangleAlert size={13} aria-hidden />
      <span className="sr-only">Warnings: {said}</span>
      <span aria-hidden>{warnings.length}</span>
    </span>
  );
}
