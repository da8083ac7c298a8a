import type { AgentCard, AgentRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, TriangleAlert } from "lucide-react";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";
import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { money } from "../../ui/format.ts";
import { RowLink, TextLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { isOwn } from "./agent-queries.ts";
import { AgentState } from "./agent-state.tsx";
import { SuccessRate } from "./success-rate.tsx";
import { warningText } from "./warning-text.rules.ts";

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
          ? "An agent combines a goal, a model and tools. Runs use the published version; edits are saved as a draft."
          : "Agents that this key can run. Keys limited to certain models can't manage agents."
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
                  <TextLink to="/agents/new" search={{ template: "page-reader" }}>
                    Start from a template
                  </TextLink>{" "}
                  or{" "}
                </>
              )}
              {manages ? "try" : "Try"} one from the <TextLink to="/marketplace">marketplace</TextLink>.
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
      <div className="min-w-32 max-w-md py-0.5">
        <span className="flex items-center gap-2">
          <RowLink to="/agents/$agentId" params={{ agentId: agent.id }} className="wrap-anywhere">
            {agent.name}
          </RowLink>
          {isOwn(agent) && agent.warnings.length > 0 && <Warnings warnings={agent.warnings} />}
        </span>
        {agent.description && <p className="line-clamp-1 text-muted text-xs">{agent.description}</p>}
        {agent.activity.last_run_at !== null && (
          <p className="text-muted text-xs md:hidden">
            Last run <Moment at={agent.activity.last_run_at} />
          </p>
        )}
      </div>
    ),
  },
  {
    head: "Status",
    cell: (agent) => (
      <span className="inline-flex flex-wrap gap-1 md:flex-nowrap">
        {isOwn(agent) ? <AgentState agent={agent} /> : <Badge tone="good">Published</Badge>}
        {agent.visibility === "public" && <Badge tone="info">Public</Badge>}
      </span>
    ),
  },
  { head: "Model", wide: true, cell: (agent) => isOwn(agent) && <code className="text-xs">{agent.model}</code> },
  {
    head: "Price",
    align: "right",
    wide: true,
    cell: ({ pricing }) => (pricing.per_run > 0 ? money(pricing.per_run) : <span className="text-muted">Free</span>),
  },
  { head: "Success", align: "right", wide: true, cell: ({ activity }) => <SuccessRate activity={activity} /> },
  {
    head: "Last run",
    align: "right",
    wide: true,
    cell: ({ activity: { last_run_at: at } }) =>
      at === null ? <span className="text-muted">Never</span> : <Moment at={at} />,
  },
];

function Warnings({ warnings }: Pick<AgentRecord, "warnings">) {
  const text = warnings.map((warning) => warningText(warning).text).join("\n");
  return (
    <span title={text} className="inline-flex shrink-0 items-center gap-1 text-warn text-xs">
      <TriangleAlert size={13} aria-hidden />
      <span className="sr-only">Warnings: {text}</span>
      <span aria-hidden>{warnings.length}</span>
    </span>
  );
}
