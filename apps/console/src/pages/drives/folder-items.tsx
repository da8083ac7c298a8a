import type { DriveItem } from "@gantry/sdk";
import { File, Folder } from "lucide-react";
import { bytes } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Table } from "../../ui/table.tsx";
import { DeleteFileButton, DeleteFolderButton } from "./delete-buttons.tsx";
import { DownloadButton } from "./download-button.tsx";
import { contentText, nameOf, sorted } from "./drive-path.rules.ts";

interface FolderItemsProps {
  driveId: string;
  path: string;
  page: number;
  items: readonly DriveItem[];
}

export function FolderItems({ driveId, path, page, items }: FolderItemsProps) {
  const size = items.reduce((sum, item) => sum + (item.type === "file" ? item.size : 0), 0);
  return (
    <>
      <Table
        label="Files and folders"
        rows={sorted(items)}
        keyOf={(item) => item.path}
        columns={[
          { head: "Name", cell: (item) => <NameOf item={item} driveId={driveId} path={path} page={page} /> },
          { head: "Size", align: "right", cell: (item) => (item.type === "file" ? bytes(item.size) : "") },
          {
            head: "Actions",
            align: "right",
            wide: true,
            cell: (item) => <ActionsOf item={item} driveId={driveId} />,
          },
        ]}
      />
      <p className="border-line border-t px-4 py-2 text-muted text-xs">
        {contentText(items)}
        {size > 0 && `, ${bytes(size)}`}
      </p>
    </>
  );
}

interface NameOfProps {
  item: DriveItem;
  driveId: string;
  path: string;
  page: number;
}

function NameOf({ item, driveId, path, page }: NameOfProps) {
  const isFolder = item.type === "directory";
  const Icon = isFolder ? Folder : File;
  const here = { ...(path !== "/" && { path }), ...(page > 1 && { page }) };
  return (
    <RowLink
      to="/drives/$driveId"
      params={{ driveId }}
      search={isFolder ? { path: item.path } : { ...here, file: item.path }}
      className="flex items-center gap-2"
    >
      <Icon size={15} className={`shrink-0 ${isFolder ? "text-accent" : "text-muted"}`} />
      <span className="break-all">{nameOf(item.path)}</span>
    </RowLink>
  );
}

function ActionsOf({ item, driveId }: { item: DriveItem; driveId: string }) {
  return (
    <div className="flex justify-end">
      {item.type === "file" ? (
        <>
          <DownloadButton driveId={driveId} path={item.path} />
          <DeleteFileButton driveId={driveId} path={item.path} />
        </>
      ) : (
        <DeleteFolderButton driveId={driveId} path={item.path} />
      )}
    </div>
  );
}
