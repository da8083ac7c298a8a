import type { DeliveryRecord, DeliveryStatus } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { seconds } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { eventLabels, idFilter } from "./delivery-event.rules.ts";
import { DeliveryFilter } from "./delivery-filter.tsx";
import { DeliveryBadge } from "./delivery-status.tsx";

const refreshMs = 5_000;

const columns: readonly Column<DeliveryRecord>[] = [
  {
    head: "URL",
    cell: ({ id, kind, event, url, last_error }) => (
      <div className="min-w-28 md:max-w-72 lg:max-w-96">
        <p className="line-clamp-2 break-all md:line-clamp-1" title={url}>
          <RowLink to="/webhooks/$deliveryId" params={{ deliveryId: id }}>
            {url}
          </RowLink>
          {(kind === "test" || kind === "notice") && <span className="text-muted"> ({kind})</span>}
          {event && <span className="text-muted"> ({eventLabels[event].toLowerCase()})</span>}
        </p>
        {last_error && (
          <p className="line-clamp-2 text-bad text-xs md:line-clamp-1" title={last_error}>
            {last_error}
          </p>
        )}
      </div>
    ),
  },
  { head: "Status", cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
  { head: "Attempts", align: "right", wide: true, cell: ({ attempts }) => attempts },
  {
    head: "Duration",
    align: "right",
    wide: true,
    cell: ({ latency_ms }) => (latency_ms === null ? "–" : seconds(latency_ms / 1000)),
  },
  { head: "Created", align: "right", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
];

export function Deliveries() {
  const { page = 1, status, q } = useSearch({ from: "/app/webhooks" });
  const navigate = useNavigate();
  const deliveries = useQuery({
    queryKey: ["deliveries", "page", { page, status, q }],
    queryFn: ({ signal }) => api.webhooks.deliveries({ page, status, ...idFilter(q), signal }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
  const isFiltered = status !== undefined || q !== undefined;
  const show = (
    to: { page?: number; status?: DeliveryStatus | undefined; q?: string | undefined },
    how?: { replace: boolean },
  ) => void navigate({ to: "/webhooks", search: { ...(status && { status }), ...(q && { q }), ...to }, ...how });
  return (
    <Panel title="Deliveries" flush actions={<DeliveryFilter status={status} prediction={q} onChange={show} />}>
      <PagedTable
        label="Deliveries"
        query={deliveries}
        keyOf={({ id }) => id}
        onPage={(to, how) => show({ page: to }, how)}
        columns={columns}
        empty={
          isFiltered ? (
            <Empty title="No matching deliveries">
              <Button onClick={() => show({ status: undefined, q: undefined })}>Show all</Button>
            </Empty>
          ) : (
            <Empty title="No deliveries yet">
              To get a callback when a queued prediction finishes, send the field{" "}
              <code>{'webhook={"url": "https://example.com/hook"}'}</code> with the request. For runs, set the{" "}
              <code>webhook</code> of the agent or of the run.
            </Empty>
          )
        }
      />
    </Panel>
  );
}
