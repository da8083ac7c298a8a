import type { FileRecord } from "@gantry/sdk";
import type { ReactNode } from "react";
import { Badge } from "../../ui/badge.tsx";
import { bytes } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Table } from "../../ui/table.tsx";
import { fileNameIn } from "../models/output/media.rules.ts";
import { DeleteFile } from "./delete-file.tsx";
import { DownloadFile } from "./download-file.tsx";
import { originLabel } from "./origin-labels.ts";

export function FileTable({ rows, onOpen }: { rows: readonly FileRecord[]; onOpen(file: FileRecord): void }) {
  return (
    <Table
      label="Files"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          head: "Name",
          cell: (file) => (
            <button
              type="button"
              className="max-w-32 truncate text-left font-medium hover:underline sm:max-w-56"
              title="Show file and links"
              onClick={() => onOpen(file)}
            >
              {fileNameIn(file.s3_path)}
            </button>
          ),
        },
        {
          head: "Source",
          cell: (file) => (
            <OnOneLine>
              <Badge>{originLabel(file)}</Badge>
            </OnOneLine>
          ),
        },
        { head: "Type", wide: true, cell: ({ content_type }) => content_type ?? <span className="text-muted">–</span> },
        {
          head: "Size",
          align: "right",
          cell: ({ size }) => <OnOneLine>{size === null ? "Not uploaded yet" : bytes(size)}</OnOneLine>,
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

/** Keeps a long file name from squeezing other columns. */
function OnOneLine({ children }: { children: ReactNode }) {
  return <span className="whitespace-nowrap">{children}</span>;
}
