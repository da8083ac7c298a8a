import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { ChoiceFilter } from "../../ui/choice-filter.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { SearchInput } from "../../ui/search-input.tsx";
import { SearchedBack } from "../../ui/searched-back.tsx";
import { DeleteSelected } from "./delete-selected.tsx";
import { FileTable } from "./file-table.tsx";
import { OpenedFile } from "./opened-file.tsx";
import { originChoices } from "./origin-labels.ts";
import { type Selection, selectedOf, toggled } from "./selection.rules.ts";
import { StorageUsed } from "./storage-used.tsx";
import { UploadPanel } from "./upload-panel.tsx";

const route = getRouteApi("/app/files");

export function FilesPage() {
  const { page = 1, q, origin, file, before } = route.useSearch();
  const navigate = route.useNavigate();
  const [selection, setSelection] = useState<Selection>(new Set());
  const files = useQuery({
    queryKey: ["files", "page", { page, q, origin, before }],
    queryFn: ({ signal }) => api.files.list({ page, q, origin, to_date: before, signal }),
    placeholderData: keepPreviousData,
  });
  const searchedFrom = files.data?.searched_from ?? null;
  // Another filter starts at the first page, with the newest files.
  const filter = (change: { q?: string | undefined } | { origin?: typeof origin }) =>
    void navigate({ search: ({ page: _page, before: _before, ...now }) => ({ ...now, ...change }), replace: true });
  const rows = files.data?.results ?? [];
  const selected = selectedOf(rows, selection);
  return (
    <Page title="Files" lead="Your uploads and the output files of your predictions, newest first.">
      <UploadPanel />
      <StorageUsed resource="files" />
      <search className="flex flex-wrap gap-2">
        <div className="min-w-56 flex-1 sm:max-w-80">
          <SearchInput label="Search by name or prompt" q={q} onQ={(wanted) => filter({ q: wanted })} />
        </div>
        <div className="w-40">
          <ChoiceFilter
            label="Source"
            all="All sources"
            choices={originChoices}
            value={origin}
            onValue={(wanted) => filter({ origin: wanted })}
          />
        </div>
      </search>
      <Panel
        flush
        {...(rows.length > 0 && {
          title: (
            <Checkbox
              className="font-normal"
              label={selected.length === 0 ? "Select all on this page" : `${selected.length} selected`}
              checked={selected.length === rows.length}
              onChange={({ target }) => setSelection(new Set(target.checked ? rows.map(({ id }) => id) : []))}
            />
          ),
        })}
        actions={selected.length > 0 && <DeleteSelected files={selected} onDeleted={() => setSelection(new Set())} />}
      >
        <Paged
          query={files}
          onPage={(wanted, how) => void navigate({ search: (now) => ({ ...now, page: wanted }), ...how })}
          empty={q === undefined && origin === undefined && before === undefined ? <NoFiles /> : <NoneFound />}
        >
          {(shown) => (
            <FileTable rows={shown} selection={selection} onToggle={(id) => setSelection((now) => toggled(now, id))} />
          )}
        </Paged>
        {searchedFrom !== null && (
          <SearchedBack
            to={searchedFrom}
            what="files"
            onOlder={() => void navigate({ search: ({ page: _page, ...now }) => ({ ...now, before: searchedFrom }) })}
          />
        )}
      </Panel>
      {file !== undefined && files.data && (
        <OpenedFile
          key={file}
          id={file}
          row={rows.find(({ id }) => id === file)}
          onClose={() => void navigate({ search: ({ file: _file, ...now }) => now, resetScroll: false })}
        />
      )}
    </Page>
  );
}

function NoFiles() {
  return (
    <Empty title="No files yet">
      Drop a file above, or run a model that outputs files. You can use each file as input for any number of
      predictions.
    </Empty>
  );
}

function NoneFound() {
  return <Empty title="No files match">Try another name, or show all sources.</Empty>;
}
