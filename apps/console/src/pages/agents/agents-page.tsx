import type { AgentRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, TriangleAlert } from "lucide-react";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { money } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { AgentState } from "./agent-state.tsx";
import { wordsOfWarning } from "./warning-words.rules.ts";

export function AgentsPage() {
  const { page = 1 } = useSearch({ from: "/app/agents" });
  const navigate = useNavigate({ from: "/agents" });
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
      lead="An agent is a goal, a model and tools. Runs use what is published; changes wait as a draft."
      actions={
        <Link to="/agents/new" className={buttonClass("primary")}>
          <Plus size={14} /> New agent
        </Link>
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
              <Link to="/agents/new" className="text-accent hover:underline">
                Make one
              </Link>{" "}
              with a goal and a tool or two, or try one of the{" "}
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

const columns: readonly Column<AgentRecord>[] = [
  {
    head: "Name",
    cell: ({ id, name, warnings }) => (
      <span className="flex min-w-32 items-center gap-2">
        <Link
          to="/agents/$agentId"
          params={{ agentId: id }}
          className="wrap-anywhere font-medium hover:text-accent hover:underline"
        >
          {name}
        </Link>
        {warnings.length > 0 && <Warnings warnings={warnings} />}
      </span>
    ),
  },
  { head: "Status", cell: (agent) => <AgentState agent={agent} /> },
  {
    head: "Visibility",
    wide: true,
    cell: ({ visibility }) => (visibility === "public" ? <Badge tone="info">public</Badge> : <Badge>private</Badge>),
  },
  { head: "Model", wide: true, cell: ({ model }) => <code className="text-xs">{model}</code> },
  {
    head: "Price",
    align: "right",
    wide: true,
    cell: ({ pricing }) => (pricing.per_run > 0 ? money(pricing.per_run) : <span className="text-muted">none</span>),
  },
  { head: "Changed", align: "right", wide: true, cell: ({ updated_at }) => <Moment at={updated_at} /> },
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
