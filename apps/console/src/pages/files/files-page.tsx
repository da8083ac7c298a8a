import type { FileRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { FileDialog } from "./file-dialog.tsx";
import { FileTable } from "./file-table.tsx";
import { StorageUsed } from "./storage-used.tsx";
import { UploadPanel } from "./upload-panel.tsx";

const route = getRouteApi("/app/files");

export function FilesPage() {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const [opened, setOpened] = useState<FileRecord>();
  const files = useQuery({
    queryKey: ["files", "page", { page }],
    queryFn: ({ signal }) => api.files.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title="Files" lead="Your uploads and the output files of your predictions, newest first.">
      <UploadPanel />
      <StorageUsed resource="files" />
      <Panel flush>
        <Paged
          query={files}
          onPage={(wanted, how) => void navigate({ search: { page: wanted }, ...how })}
          empty={
            <Empty title="No files yet">
              Drop a file above, or run a model that outputs files. You can use each file as input for any number of
              predictions.
            </Empty>
          }
        >
          {(rows) => <FileTable rows={rows} onOpen={setOpened} />}
        </Paged>
      </Panel>
      {opened && <FileDialog file={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}
