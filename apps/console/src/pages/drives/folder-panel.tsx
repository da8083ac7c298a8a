import { GantryError } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { wordsOf } from "../../ui/failure-words.rules.ts";
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
    droppedFiles(dropped).then(setChosen, (error: unknown) => toast(wordsOf(error), "bad"));
  });
  const navigate = useNavigate();
  const items = useQuery(itemsQuery(driveId, path, page));
  // A folder is there as long as something stands in it: one whose last file went is empty, not a failure.
  const isGone = items.error instanceof GantryError && items.error.type === "not_found" && path !== "/";
  const nothing = (
    <Empty title={path === "/" ? "The drive is empty" : "Nothing stands in this folder"}>
      Drop files here, or choose them with Upload.
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
          nothing
        ) : (
          <Paged
            query={items}
            empty={nothing}
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
