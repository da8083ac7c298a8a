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
    head: "To",
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
    head: "Took",
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
  const isNarrowed = status !== undefined || q !== undefined;
  const look = (
    to: { page?: number; status?: DeliveryStatus | undefined; q?: string | undefined },
    how?: { replace: boolean },
  ) => void navigate({ to: "/webhooks", search: { ...(status && { status }), ...(q && { q }), ...to }, ...how });
  return (
    <Panel title="Deliveries" flush actions={<DeliveryFilter status={status} prediction={q} onChange={look} />}>
      <PagedTable
        label="Deliveries"
        query={deliveries}
        keyOf={({ id }) => id}
        onPage={(to, how) => look({ page: to }, how)}
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
          isNarrowed ? (
            <Empty title="No such delivery">
              <Button onClick={() => look({ status: undefined, q: undefined })}>Show all</Button>
            </Empty>
          ) : (
            <Empty title="Nothing was sent yet">
              A queued prediction tells when it has ended: send the field{" "}
              <code>{'webhook={"url": "https://example.com/hook"}'}</code> along with it.
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
