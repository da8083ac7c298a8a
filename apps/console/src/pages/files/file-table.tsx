import type { FileRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import { bytes } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Table } from "../../ui/table.tsx";
import { fileNameIn } from "../models/output/media.rules.ts";
import { Thumbnail } from "../predictions/thumbnail.tsx";
import { DeleteFile } from "./delete-file.tsx";
import { DownloadFile } from "./download-file.tsx";
import { originLabel } from "./origin-labels.ts";
import type { Selection } from "./selection.rules.ts";

interface FileTableProps {
  rows: readonly FileRecord[];
  selection: Selection;
  onToggle(id: string): void;
}

export function FileTable({ rows, selection, onToggle }: FileTableProps) {
  return (
    <Table
      label="Files"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          head: "Name",
          fill: true,
          cell: (file) => (
            <FileCell file={file} isSelected={selection.has(file.id)} onToggle={() => onToggle(file.id)} />
          ),
        },
        {
          head: "Source",
          wide: true,
          cell: (file) => (
            <>
              <Badge>{originLabel(file)}</Badge>
              {file.model_name && <p className="mt-0.5 max-w-44 truncate text-muted text-xs">{file.model_name}</p>}
            </>
          ),
        },
        {
          head: "Size",
          align: "right",
          cell: ({ size }) => <span className="whitespace-nowrap">{size === null ? "Not uploaded" : bytes(size)}</span>,
        },
        { head: "Created", align: "right", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
        {
          head: "Actions",
          align: "right",
          wide: true,
          cell: (file) => (
            <span className="flex justify-end">
              {file.size !== null && <DownloadFile file={file} quiet />}
              <DeleteFile file={file} quiet />
            </span>
          ),
        },
      ]}
    />
  );
}

function FileCell({ file, isSelected, onToggle }: { file: FileRecord; isSelected: boolean; onToggle(): void }) {
  const { id, s3_path, content_type, link, prompt, created_at } = file;
  const name = fileNameIn(s3_path);
  return (
    <div className="flex min-w-0 items-center gap-3">
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        className="size-4 shrink-0 accent-accent"
        checked={isSelected}
        onChange={onToggle}
      />
      <Thumbnail large file={{ link, name, contentType: content_type }} />
      <div className="w-20 min-w-0 flex-1 sm:w-44 xl:w-64">
        <RowLink
          to="/files"
          search={(now) => ({ ...now, file: id })}
          resetScroll={false}
          title="Show file and links"
          className="block truncate"
        >
          {name}
        </RowLink>
        <p className="truncate text-muted text-xs" title={prompt ?? undefined}>
          {prompt ?? content_type ?? "Unknown type"}
        </p>
        <p className="text-muted text-xs md:hidden">
          <Moment at={created_at} />
        </p>
      </div>
    </div>
  );
}
