import type { FileRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { FileDialog } from "./file-dialog.tsx";

interface OpenedFileProps {
  id: string;
  /** If the page shows it. */
  row: FileRecord | undefined;
  onClose(): void;
}

/** The file of the address, which may be on another page of the list. */
export function OpenedFile({ id, row, onClose }: OpenedFileProps) {
  const found = useQuery({
    queryKey: ["files", "one", id],
    queryFn: async ({ signal }) =>
      (await api.files.list({ q: id, signal })).results.find((file) => file.id === id) ?? null,
    enabled: row === undefined,
  });
  const file = row ?? found.data;
  if (file) return <FileDialog file={file} onClose={onClose} />;
  return (
    <Dialog open onClose={onClose} title="File">
      <Loaded query={found}>
        {() => <Empty title="File not found">It was deleted, or belongs to another user.</Empty>}
      </Loaded>
    </Dialog>
  );
}
