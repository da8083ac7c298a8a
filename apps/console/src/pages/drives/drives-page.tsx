import type { DriveRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Pager, Table } from "../../ui/table.tsx";
import { drivesPerPage, drivesQuery } from "./drive-queries.ts";
import { NewDriveDialog } from "./new-drive-dialog.tsx";

export function DrivesPage() {
  const { page = 1 } = useSearch({ from: "/app/drives" });
  const navigate = useNavigate();
  const [isMaking, setMaking] = useState(false);
  const drives = useQuery(drivesQuery(page));
  return (
    <Page
      title="Drives"
      lead="Files that you and your agents share."
      actions={
        <Button kind="primary" icon={<Plus size={14} />} onClick={() => setMaking(true)}>
          New drive
        </Button>
      }
    >
      <Panel flush={!drives.isError}>
        <Loaded query={drives}>
          {({ drives: rows, total }) => (
            <>
              <Table
                label="Drives"
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  { head: "Name", cell: (drive) => <NameOf drive={drive} /> },
                  { head: "Id", wide: true, cell: ({ id }) => <code className="text-muted text-xs">{id}</code> },
                  { head: "Made", align: "right", cell: ({ created_at }) => <Moment at={created_at} /> },
                ]}
                empty={
                  <Empty title={total > 0 ? "There is nothing on this page" : "No drives yet"}>
                    Make one, put files into it, and give it to an agent.
                  </Empty>
                }
              />
              <Pager
                page={page}
                total={total}
                totalPages={Math.ceil(total / drivesPerPage)}
                onPage={(next) => void navigate({ to: "/drives", search: { page: next } })}
              />
            </>
          )}
        </Loaded>
      </Panel>
      {isMaking && (
        <NewDriveDialog
          onClose={() => setMaking(false)}
          onMade={({ id }) => void navigate({ to: "/drives/$driveId", params: { driveId: id } })}
        />
      )}
    </Page>
  );
}

function NameOf({ drive: { id, name, description } }: { drive: DriveRecord }) {
  return (
    <div className="min-w-0">
      <Link
        to="/drives/$driveId"
        params={{ driveId: id }}
        className="break-words font-medium text-accent hover:underline"
      >
        {name}
      </Link>
      {description && <p className="line-clamp-2 break-words text-muted text-xs">{description}</p>}
    </div>
  );
}
