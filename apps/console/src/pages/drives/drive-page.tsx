import type { DriveRecord } from "@gantry/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Pencil } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { DeleteInUseButton } from "../../ui/delete-in-use-button.tsx";
import { Loaded } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { DriveDialog } from "./drive-dialog.tsx";
import { driveQuery } from "./drive-queries.ts";
import { FileDialog } from "./file-dialog.tsx";
import { FolderPanel } from "./folder-panel.tsx";
import { IndexPanel } from "./index/index-panel.tsx";
import { SearchPanel } from "./index/search-panel.tsx";

export function DrivePage() {
  const { driveId } = useParams({ from: "/app/drives/$driveId" });
  const { path = "/", file, page = 1, q } = useSearch({ from: "/app/drives/$driveId" });
  const navigate = useNavigate();
  const drive = useQuery(driveQuery(driveId));
  return (
    <Page
      title={drive.data?.name ?? "Drive"}
      lead={
        <>
          <Link to="/drives" className="text-accent hover:underline">
            All drives
          </Link>
          <Copyable text={driveId} />
          {drive.data?.description && <span className="block break-words">{drive.data.description}</span>}
        </>
      }
      actions={drive.data && <Actions drive={drive.data} />}
    >
      <Loaded query={drive}>
        {(found) => (
          <>
            {found.index && <SearchPanel key={q} driveId={driveId} q={q} />}
            <FolderPanel driveId={driveId} driveName={found.name} path={path} page={page} />
            <IndexPanel drive={found} />
            {file !== undefined && (
              <FileDialog
                key={file}
                driveId={driveId}
                path={file}
                onClose={() =>
                  void navigate({
                    to: "/drives/$driveId",
                    params: { driveId },
                    search: { ...(path !== "/" && { path }), ...(page > 1 && { page }), ...(q !== undefined && { q }) },
                  })
                }
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ drive }: { drive: DriveRecord }) {
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      <Button icon={<Pencil size={14} />} onClick={() => setEditing(true)}>
        Edit
      </Button>
      <DeleteDrive driveId={drive.id} name={drive.name} />
      {isEditing && <DriveDialog drive={drive} onClose={() => setEditing(false)} onSaved={() => setEditing(false)} />}
    </>
  );
}

function DeleteDrive({ driveId, name }: { driveId: string; name: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <DeleteInUseButton
      question={`Delete ${name} and all its files?`}
      explanation="This can't be undone."
      onDelete={async (force) => {
        await api.drives.delete(driveId, { force });
        toast(`${name} deleted`);
        await navigate({ to: "/drives" });
        queries.removeQueries(driveQuery(driveId));
        await queries.invalidateQueries({ queryKey: ["drives"] });
      }}
    />
  );
}
