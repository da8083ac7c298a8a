import { GantryError } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { errorText } from "../../ui/error-text.rules.ts";
import { Empty } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { toast } from "../../ui/toast.ts";
import { useFileDrop } from "../../ui/use-file-drop.ts";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { DeleteFolderButton } from "./delete-buttons.tsx";
import { itemsQuery } from "./drive-queries.ts";
import { type ChosenFile, droppedFiles } from "./dropped-files.ts";
import { FolderItems } from "./folder-items.tsx";
import { UploadButton } from "./upload-button.tsx";
import { UploadDialog } from "./upload-dialog.tsx";

interface FolderPanelProps {
  driveId: string;
  driveName: string;
  path: string;
  page: number;
}

export function FolderPanel({ driveId, driveName, path, page }: FolderPanelProps) {
  const [chosen, setChosen] = useState<ChosenFile[]>([]);
  const { isOver, handlers } = useFileDrop((dropped) => {
    droppedFiles(dropped).then(setChosen, (error: unknown) => toast(errorText(error), "bad"));
  });
  const navigate = useNavigate();
  const items = useQuery(itemsQuery(driveId, path, page));
  // Folders exist only through their files: after the last file is deleted, the API answers not found.
  const isGone = items.error instanceof GantryError && items.error.type === "not_found" && path !== "/";
  const empty = (
    <Empty title={path === "/" ? "This drive is empty" : "This folder is empty"}>
      Drop files here or click Upload.
    </Empty>
  );
  return (
    <section
      aria-label="Files"
      className={`rounded-lg ${isOver ? "outline-2 outline-accent outline-dashed outline-offset-4" : ""}`}
      {...handlers}
    >
      <Panel
        flush
        title={<Breadcrumbs driveId={driveId} driveName={driveName} path={path} />}
        actions={
          <div className="flex flex-wrap gap-2">
            {path !== "/" && items.data && !isGone && <DeleteFolderButton driveId={driveId} path={path} isOpen />}
            <UploadButton onChoose={setChosen} />
          </div>
        }
      >
        {isGone ? (
          empty
        ) : (
          <Paged
            query={items}
            empty={empty}
            onPage={(next, how) =>
              void navigate({
                to: "/drives/$driveId",
                params: { driveId },
                search: { ...(path !== "/" && { path }), page: next },
                ...how,
              })
            }
          >
            {(rows) => <FolderItems driveId={driveId} path={path} page={page} items={rows} />}
          </Paged>
        )}
      </Panel>
      {chosen.length > 0 && (
        <UploadDialog driveId={driveId} folder={path} chosen={chosen} onClose={() => setChosen([])} />
      )}
    </section>
  );
}
