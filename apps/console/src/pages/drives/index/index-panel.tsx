import type { DriveIndexRecord, DriveRecord, IndexFileStatus } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { readableMessage } from "../../../ui/api-messages.rules.ts";
import { Button } from "../../../ui/button.tsx";
import { ConfirmButton } from "../../../ui/dialog.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { count } from "../../../ui/format.ts";
import { Moment } from "../../../ui/moment.tsx";
import { Empty, Notice } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { PagedTable } from "../../../ui/paged.tsx";
import { toast } from "../../../ui/toast.ts";
import { nameOf } from "../drive-path.rules.ts";
import { IndexDialog } from "./index-dialog.tsx";
import { indexFilesQuery } from "./index-queries.ts";
import { IndexStatus } from "./index-status.tsx";

/** Whether and how the files of a drive can be searched. */
export function IndexPanel({ drive }: { drive: DriveRecord }) {
  const [isOpen, setOpen] = useState(false);
  const { index } = drive;
  return (
    <Panel title="Search index" actions={index ? <Actions drive={drive} onModel={() => setOpen(true)} /> : undefined}>
      {index ? (
        <Index drive={drive} index={index} />
      ) : (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="max-w-prose text-muted">
            Index the files so that you can search in them, and agents with the tool <code>drive_search</code> too.
          </p>
          <Button kind="primary" onClick={() => setOpen(true)}>
            Turn on search
          </Button>
        </div>
      )}
      {isOpen && <IndexDialog drive={drive} onClose={() => setOpen(false)} />}
    </Panel>
  );
}

function Index({ drive, index }: { drive: DriveRecord; index: DriveIndexRecord }) {
  const { status, paused_reason, embedding_model, files, indexed, failed, skipped, chunks, updated_at } = index;
  const done = Math.min(files, indexed + failed + skipped);
  const queries = useQueryClient();
  const resuming = useMutation({
    mutationFn: () => api.drives.update(drive.id, { index: { embedding_model } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["drives"] }),
  });
  return (
    <div className="flex flex-col gap-4">
      {status === "paused" && (
        <Notice tone="warn" title="Indexing is paused">
          <p>{readableMessage(paused_reason ?? "Gantry paused this index.")} Fix the cause, then resume.</p>
          <Button className="mt-2" busy={resuming.isPending} onClick={() => resuming.mutate()}>
            Resume
          </Button>
        </Notice>
      )}
      {status !== "ready" && files > 0 && (
        <div>
          <div className="mb-1 flex justify-between gap-3 text-muted text-xs tabular-nums">
            <span>
              {count(done)} of {count(files)} files
            </span>
            <span>{Math.floor((100 * done) / files)} %</span>
          </div>
          <progress aria-label="Indexed files" className="block h-2 w-full accent-accent" value={done} max={files} />
        </div>
      )}
      <Facts
        facts={[
          ["Status", <IndexStatus key="status" status={status} />],
          ["Embedding model", embedding_model ? <code key="model">{embedding_model}</code> : "None: search by words"],
          ["Files", `${count(indexed)} indexed, ${count(failed)} failed, ${count(skipped)} without text`],
          ["Passages", count(chunks)],
          ["Updated", <Moment key="updated" at={updated_at} />],
        ]}
      />
      {failed > 0 && <Files driveId={drive.id} status="failed" label={`${filesText(failed)} failed`} />}
      {skipped > 0 && <Files driveId={drive.id} status="skipped" label={`${filesText(skipped)} without text`} />}
    </div>
  );
}

const filesText = (n: number) => (n === 1 ? "1 file" : `${count(n)} files`);

function Files({ driveId, status, label }: { driveId: string; status: IndexFileStatus; label: string }) {
  const [isOpen, setOpen] = useState(false);
  const [page, setPage] = useState(1);
  const list = useQuery({ ...indexFilesQuery(driveId, status, page), enabled: isOpen });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="w-fit cursor-pointer rounded font-medium hover:text-accent">{label}</summary>
      {isOpen && (
        <div className="mt-2 rounded-md border border-line">
          <PagedTable
            label={label}
            query={list}
            keyOf={({ path }) => path}
            onPage={setPage}
            columns={[
              {
                head: "File",
                cell: ({ path }) => (
                  <span className="wrap-anywhere" title={path}>
                    {nameOf(path)}
                  </span>
                ),
              },
              { head: "Reason", cell: ({ reason }) => <span className="wrap-anywhere">{reason ?? "Not known"}</span> },
            ]}
            empty={<Empty title="No files" />}
          />
        </div>
      )}
    </details>
  );
}

function Actions({ drive, onModel }: { drive: DriveRecord; onModel(): void }) {
  const queries = useQueryClient();
  const changed = () => queries.invalidateQueries({ queryKey: ["drives"] });
  const rebuilding = useMutation({
    mutationFn: () => api.drives.rebuildIndex(drive.id),
    async onSuccess() {
      await changed();
      toast("Indexing all files again");
    },
  });
  const removing = useMutation({
    mutationFn: () => api.drives.update(drive.id, { index: null }),
    async onSuccess() {
      await changed();
      toast("Search turned off", "plain");
    },
  });
  const hasModel = drive.index?.embedding_model !== null;
  return (
    <div className="flex flex-wrap gap-1">
      <Button kind="quiet" onClick={onModel}>
        Change model
      </Button>
      <ConfirmButton
        quiet
        label="Rebuild"
        icon={<RotateCw size={14} />}
        question="Index all files again?"
        explanation={`Search works with the old index meanwhile.${hasModel ? " You pay for the calls of the embedding model." : ""}`}
        onConfirm={() => rebuilding.mutateAsync()}
      />
      <ConfirmButton
        quiet
        label="Turn off"
        question={`Turn off search in ${drive.name}?`}
        explanation="Deletes the index, not the files. Agents can no longer search this drive."
        onConfirm={() => removing.mutateAsync()}
      />
    </div>
  );
}
