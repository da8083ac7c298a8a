import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { folderOf, nameOf } from "./drive-path.rules.ts";

interface DeleteFileButtonProps {
  driveId: string;
  path: string;
  onDeleted?(): void;
}

export function DeleteFileButton({ driveId, path, onDeleted }: DeleteFileButtonProps) {
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => api.drives.files.delete(driveId, path),
    async onSuccess() {
      onDeleted?.();
      toast(`${nameOf(path)} deleted`);
      await queries.invalidateQueries({ queryKey: ["drives"] });
    },
  });
  return (
    <ConfirmButton
      quiet
      label="Delete"
      subject={nameOf(path)}
      icon={<Trash2 size={14} />}
      question={`Delete ${nameOf(path)}?`}
      explanation="This can't be undone."
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}

/** `isOpen`: the folder is open, so its parent is opened after deletion. */
export function DeleteFolderButton({
  driveId,
  path,
  isOpen = false,
}: {
  driveId: string;
  path: string;
  isOpen?: boolean;
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => api.drives.deleteTree(driveId, path),
    async onSuccess() {
      toast(`${nameOf(path)} deleted`);
      const parent = folderOf(path);
      if (isOpen) {
        await navigate({
          to: "/drives/$driveId",
          params: { driveId },
          search: parent === "/" ? {} : { path: parent },
        });
      }
      await queries.invalidateQueries({ queryKey: ["drives"] });
    },
  });
  return (
    <ConfirmButton
      quiet
      label={isOpen ? "Delete folder" : "Delete"}
      subject={nameOf(path)}
      icon={<Trash2 size={14} />}
      question={`Delete folder ${nameOf(path)}?`}
      explanation="Deletes everything in it. This can't be undone."
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
