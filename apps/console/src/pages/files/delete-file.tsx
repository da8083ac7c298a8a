import type { FileRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { fileNameIn } from "../models/output/media.rules.ts";

interface DeleteFileProps {
  file: FileRecord;
  quiet?: boolean;
  onDeleted?(): void;
}

export function DeleteFile({ file: { id, s3_path }, quiet = false, onDeleted }: DeleteFileProps) {
  const queries = useQueryClient();
  const name = fileNameIn(s3_path);
  const deleting = useMutation({
    mutationFn: () => api.files.delete(id),
    onSuccess() {
      toast(`${name} deleted`);
      onDeleted?.();
      return queries.invalidateQueries({ queryKey: ["files"] });
    },
  });
  return (
    <ConfirmButton
      label="Delete"
      subject={name}
      icon={<Trash2 size={14} />}
      quiet={quiet}
      question={`Delete ${name}?`}
      explanation="This can't be undone. Links stop working; running predictions aren't affected."
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
