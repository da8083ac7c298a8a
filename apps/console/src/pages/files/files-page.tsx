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
    <Page title="Files" lead="What you uploaded and what your predictions made, newest first.">
      <UploadPanel />
      <StorageUsed beside="files" />
      <Panel flush>
        <Paged
          query={files}
          onPage={(wanted, how) => void navigate({ search: { page: wanted }, ...how })}
          empty={
            <Empty title="There are no files yet">
              Drop one above, or run a model that makes one. A file that is here can be given to any number of
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
