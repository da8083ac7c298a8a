import type { FileRecord } from "@gantry/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Loaded } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Pager } from "../../ui/table.tsx";
import { FileDialog } from "./file-dialog.tsx";
import { FileTable } from "./file-table.tsx";
import { UploadPanel } from "./upload-panel.tsx";

const route = getRouteApi("/app/files");

export function FilesPage() {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const [opened, setOpened] = useState<FileRecord>();
  const files = useQuery({
    queryKey: ["files", { page }],
    queryFn: ({ signal }) => api.files.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title="Files" lead="What you uploaded and what your predictions made, newest first.">
      <UploadPanel />
      <Loaded query={files}>
        {({ results, total_count, total_pages }) => (
          <Panel flush>
            <FileTable rows={results} onOpen={setOpened} />
            <Pager
              page={page}
              totalPages={total_pages}
              total={total_count}
              onPage={(wanted) => void navigate({ search: { page: wanted } })}
            />
          </Panel>
        )}
      </Loaded>
      {opened && <FileDialog file={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}
