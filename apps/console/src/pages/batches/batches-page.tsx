import type { BatchRecord } from "@gantry/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "../../ui/button.tsx";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty, Failure, Loading } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { batchesQuery } from "./batch-queries.ts";
import { BatchProgress, BatchStatus } from "./batch-status.tsx";

const columns: readonly Column<BatchRecord>[] = [
  {
    head: "Batch",
    cell: ({ id }) => (
      <RowLink to="/batches/$id" params={{ id }} className="break-all">
        {id}
      </RowLink>
    ),
  },
  { head: "Status", cell: ({ status }) => <BatchStatus status={status} /> },
  { head: "Requests", align: "right", cell: (batch) => <BatchProgress request_counts={batch.request_counts} /> },
  { head: "Endpoint", wide: true, cell: ({ endpoint }) => <code>{endpoint}</code> },
  { head: "Created", wide: true, cell: ({ created_at }) => <Moment at={momentOf(created_at)} /> },
];

const momentOf = (seconds: number) => new Date(seconds * 1000).toISOString();

export function BatchesPage() {
  const batches = useInfiniteQuery(batchesQuery);
  const rows = batches.data?.pages.flatMap(({ data }) => data);
  return (
    <Page title="Batches" lead="Files of requests that run in the queue within 24 hours.">
      <Panel flush>
        {rows ? (
          <Table
            label="Batches"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            empty={
              <Empty title="No batches yet">
                Create one with <code>gantry batches create FILE</code>, or with an OpenAI client.
              </Empty>
            }
          />
        ) : batches.isError ? (
          <Failure error={batches.error} onRetry={() => void batches.refetch()} />
        ) : (
          <Loading />
        )}
        {batches.hasNextPage && (
          <div className="flex justify-center border-line border-t p-2">
            <Button busy={batches.isFetchingNextPage} onClick={() => void batches.fetchNextPage()}>
              Show more
            </Button>
          </div>
        )}
      </Panel>
    </Page>
  );
}
