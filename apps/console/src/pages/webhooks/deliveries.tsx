import type { DeliveryRecord, DeliveryStatus } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { seconds } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { DeliveryDialog } from "./delivery-dialog.tsx";
import { DeliveryFilter } from "./delivery-filter.tsx";
import { DeliveryBadge } from "./delivery-status.tsx";

const refreshMs = 5_000;

const facts: readonly Column<DeliveryRecord>[] = [
  { head: "Status", cell: ({ status }) => <DeliveryBadge status={status} /> },
  {
    head: "URL",
    cell: ({ url, last_error }) => (
      <div className="min-w-28 md:max-w-72 lg:max-w-96">
        <p className="line-clamp-2 break-all md:line-clamp-1" title={url}>
          {url}
        </p>
        {last_error && (
          <p className="line-clamp-2 text-bad text-xs md:line-clamp-1" title={last_error}>
            {last_error}
          </p>
        )}
      </div>
    ),
  },
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
  const [opened, setOpened] = useState<string>();
  const deliveries = useQuery({
    queryKey: ["deliveries", "page", { page, status, q }],
    queryFn: ({ signal }) => api.webhooks.deliveries({ page, status, prediction_id: q, signal }),
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
        columns={[
          ...facts,
          {
            head: "Actions",
            align: "right",
            cell: ({ id, url }) => (
              <Button kind="quiet" aria-label={`Details of the delivery to ${url}`} onClick={() => setOpened(id)}>
                Details
              </Button>
            ),
          },
        ]}
        empty={
          isFiltered ? (
            <Empty title="No matching deliveries">
              <Button onClick={() => show({ status: undefined, q: undefined })}>Show all</Button>
            </Empty>
          ) : (
            <Empty title="No deliveries yet">
              To get a callback when a queued prediction finishes, send the field{" "}
              <code>{'webhook={"url": "https://example.com/hook"}'}</code> with the request.
            </Empty>
          )
        }
      />
      <DeliveryDialog
        delivery={deliveries.data?.results.find(({ id }) => id === opened)}
        onClose={() => setOpened(undefined)}
      />
    </Panel>
  );
}
