import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { DeleteInUseButton } from "../../ui/delete-in-use-button.tsx";
import { Loaded } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { driveQuery } from "./drive-queries.ts";
import { FileDialog } from "./file-dialog.tsx";
import { FolderPanel } from "./folder-panel.tsx";

export function DrivePage() {
  const { driveId } = useParams({ from: "/app/drives/$driveId" });
  const { path = "/", file, page = 1 } = useSearch({ from: "/app/drives/$driveId" });
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
          {drive.data?.description && <span className="block break-words">{drive.data.description}</span>}
        </>
      }
      actions={drive.data && <DeleteDrive driveId={driveId} name={drive.data.name} />}
    >
      <Loaded query={drive}>
        {({ name }) => (
          <>
            <FolderPanel driveId={driveId} driveName={name} path={path} page={page} />
            {file !== undefined && (
              <FileDialog
                key={file}
                driveId={driveId}
                path={file}
                onClose={() =>
                  void navigate({
                    to: "/drives/$driveId",
                    params: { driveId },
                    search: { ...(path !== "/" && { path }), ...(page > 1 && { page }) },
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
