import type { DriveRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { count } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { StorageUsed } from "../files/storage-used.tsx";
import { DriveDialog } from "./drive-dialog.tsx";
import { drivesQuery } from "./drive-queries.ts";
import { IndexStatus } from "./index/index-status.tsx";

const columns: readonly Column<DriveRecord>[] = [
  { head: "Name", cell: (drive) => <NameOf drive={drive} /> },
  {
    head: "Search",
    wide: true,
    cell: ({ index }) => (index ? <IndexStatus status={index.status} /> : <span className="text-muted">Off</span>),
  },
  {
    head: "Indexed files",
    align: "right",
    wide: true,
    cell: ({ index }) => (index ? `${count(index.indexed)} of ${count(index.files)}` : "–"),
  },
  { head: "Created", align: "right", cell: ({ created_at }) => <Moment at={created_at} /> },
];

export function DrivesPage() {
  const { page = 1 } = useSearch({ from: "/app/drives" });
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const drives = useQuery(drivesQuery(page));
  return (
    <Page
      title="Drives"
      lead="Files shared between you and your agents."
      actions={
        <Button kind="primary" icon={<Plus size={14} />} onClick={() => setCreating(true)}>
          New drive
        </Button>
      }
    >
      <StorageUsed resource="drives" />
      <Panel flush>
        <PagedTable
          label="Drives"
          query={drives}
          keyOf={({ id }) => id}
          columns={columns}
          onPage={(next, how) => void navigate({ to: "/drives", search: { page: next }, ...how })}
          empty={<Empty title="No drives yet">Create a drive, upload files and give an agent access to it.</Empty>}
        />
      </Panel>
      {isCreating && (
        <DriveDialog
          onClose={() => setCreating(false)}
          onSaved={({ id }) => void navigate({ to: "/drives/$driveId", params: { driveId: id } })}
        />
      )}
    </Page>
  );
}

function NameOf({ drive: { id, name, description } }: { drive: DriveRecord }) {
  return (
    <div className="min-w-32 wrap-anywhere">
      <RowLink to="/drives/$driveId" params={{ driveId: id }}>
        {name}
      </RowLink>
      {description && <p className="line-clamp-2 text-muted text-xs">{description}</p>}
    </div>
  );
}
