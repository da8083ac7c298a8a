import type { BackendRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { Badge } from "../../../ui/badge.tsx";
import { count, seconds } from "../../../ui/format.ts";
import { Moment } from "../../../ui/moment.tsx";
import { Loaded } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { callsText, pauseText, stateOf } from "./backend-state.rules.ts";

const refreshMs = 5_000;

/** State and figures of the backends. Only for the owner and admins. */
export function BackendFigures({ model }: { model: string }) {
  const backends = useQuery({
    queryKey: ["backends", model],
    queryFn: ({ signal }) => api.models.backends(model, { page_size: 100, signal }),
    refetchInterval: refreshMs,
  });
  return (
    <Panel title="Backends" flush>
      <Loaded query={backends}>
        {({ results }) => <Table label="Backends" rows={results} keyOf={({ name }) => name} columns={columns} />}
      </Loaded>
    </Panel>
  );
}

const columns: readonly Column<BackendRecord>[] = [
  {
    head: "Backend",
    cell: ({ name, type, priority, weight }) => (
      <>
        <code className="wrap-anywhere font-medium">{name}</code>
        <p className="text-muted text-xs">
          {type}, priority {priority}, weight {weight}
        </p>
      </>
    ),
  },
  { head: "State", cell: (backend) => <State backend={backend} /> },
  {
    head: "Running",
    align: "right",
    wide: true,
    cell: ({ running, capacity }) =>
      running === null ? <None /> : `${count(running)}${capacity === null ? "" : ` of ${count(capacity)}`}`,
  },
  { head: "Last hour", align: "right", cell: ({ last_hour }) => callsText(last_hour) },
  { head: "Last day", align: "right", wide: true, cell: ({ last_day }) => callsText(last_day) },
  {
    head: "First byte, last hour",
    align: "right",
    wide: true,
    cell: ({ last_hour }) =>
      last_hour?.p50_ms == null || last_hour.p95_ms == null ? (
        <None />
      ) : (
        <>
          {seconds(last_hour.p50_ms / 1000)}
          <p className="whitespace-nowrap text-muted text-xs">95 % within {seconds(last_hour.p95_ms / 1000)}</p>
        </>
      ),
  },
];

function State({ backend }: { backend: BackendRecord }) {
  const { label, tone } = stateOf(backend);
  const pause = pauseText(backend);
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      {pause !== undefined && (
        <p className="text-muted text-xs">
          {pause}
          {backend.opened_at !== null && (
            <>
              , <Moment at={backend.opened_at} />
            </>
          )}
        </p>
      )}
    </>
  );
}

function None() {
  return <span className="text-muted">–</span>;
}
