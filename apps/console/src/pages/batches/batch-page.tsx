import type { BatchRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { time } from "../../ui/format.ts";
import { Loaded } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Table } from "../../ui/table.tsx";
import { toast } from "../../ui/toast.ts";
import { batchQuery } from "./batch-queries.ts";
import { BatchProgress, BatchStatus } from "./batch-status.tsx";

export function BatchPage() {
  const { id } = useParams({ from: "/app/batches/$id" });
  const batch = useQuery(batchQuery(id));
  const isCancellable = batch.data?.status === "validating" || batch.data?.status === "in_progress";
  return (
    <Page title="Batch" lead={<Copyable text={id} />} actions={isCancellable && <CancelBatch id={id} />}>
      <Loaded query={batch}>{(shown) => <BatchPanels batch={shown} />}</Loaded>
    </Page>
  );
}

function BatchPanels({ batch }: { batch: BatchRecord }) {
  const { id, status, endpoint, request_counts: counts, errors, created_at, expires_at, metadata } = batch;
  const endedAt = batch.completed_at ?? batch.failed_at ?? batch.expired_at ?? batch.cancelled_at;
  const facts: (readonly [string, ReactNode])[] = [
    ["Status", <BatchStatus key="status" status={status} />],
    ["Requests", <BatchProgress key="requests" request_counts={counts} />],
    ["Endpoint", <code key="endpoint">{endpoint}</code>],
    ["Created", timeOf(created_at)],
    endedAt === null ? ["Expires", timeOf(expires_at)] : ["Ended", timeOf(endedAt)],
    ...Object.entries(metadata ?? {}),
  ];
  return (
    <>
      <Panel title="Progress">
        <div className="flex flex-col gap-4">
          {counts.total > 0 && (
            <progress
              className="h-2 w-full accent-accent"
              max={counts.total}
              value={counts.completed + counts.failed}
              aria-label="Requests that have ended"
            />
          )}
          <Facts facts={facts} />
        </div>
      </Panel>
      <Panel title="Files">
        <div className="flex flex-wrap gap-2">
          <DownloadLines label="Input" fileId={batch.input_file_id} name={`${id}_input.jsonl`} />
          <DownloadLines label="Results" fileId={batch.output_file_id} name={`${id}_output.jsonl`} />
          <DownloadLines label="Errors" fileId={batch.error_file_id} name={`${id}_errors.jsonl`} />
        </div>
      </Panel>
      {errors && (
        <Panel title="Problems in the input file" flush>
          <Table
            label="Problems in the input file"
            rows={errors.data}
            keyOf={({ line, code }) => `${line} ${code}`}
            columns={[
              { head: "Line", align: "right", cell: ({ line }) => line ?? "–" },
              { head: "Problem", cell: ({ message }) => message },
              { head: "Code", wide: true, cell: ({ code }) => <code>{code}</code> },
            ]}
          />
        </Panel>
      )}
    </>
  );
}

const timeOf = (seconds: number) => time(new Date(seconds * 1000));

function DownloadLines({ label, fileId, name }: { label: string; fileId: string | null; name: string }) {
  const downloading = useMutation({
    mutationFn: (id: string) => api.batches.download(id).then((response) => response.blob()),
    onSuccess: (content) => saveFile(content, name),
  });
  return (
    <Button
      icon={<Download size={14} />}
      disabled={fileId === null}
      busy={downloading.isPending}
      onClick={() => fileId !== null && downloading.mutate(fileId)}
    >
      {label}
    </Button>
  );
}

function CancelBatch({ id }: { id: string }) {
  const queries = useQueryClient();
  const cancelling = useMutation({
    mutationFn: () => api.batches.cancel(id),
    async onSuccess() {
      toast("The batch is being cancelled");
      await queries.invalidateQueries({ queryKey: ["batches"] });
    },
  });
  return (
    <ConfirmButton
      label="Cancel batch"
      subject={id}
      question="Cancel this batch?"
      cancel="Keep it"
      explanation="Requests that have not ended are cancelled. Results of the others stay."
      onConfirm={() => cancelling.mutateAsync()}
    />
  );
}
