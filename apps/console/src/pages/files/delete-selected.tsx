import type { FileRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { errorText } from "../../ui/error-text.rules.ts";
import { toast } from "../../ui/toast.ts";
import { deletedText } from "./selection.rules.ts";

/** Deletes one file after another. A failure does not stop the others. */
export function DeleteSelected({ files, onDeleted }: { files: readonly FileRecord[]; onDeleted(): void }) {
  const queries = useQueryClient();
  const deleting = useMutation({
    async mutationFn() {
      let failure: unknown;
      let deleted = 0;
      for (const { id } of files) {
        try {
          await api.files.delete(id);
          deleted++;
        } catch (error) {
          failure ??= error;
        }
      }
      return { deleted, failure };
    },
    onSuccess({ deleted, failure }) {
      const text = deletedText(deleted, files.length);
      if (failure === undefined) toast(text);
      else toast(`${text}. ${errorText(failure)}`, "bad");
      onDeleted();
      return queries.invalidateQueries({ queryKey: ["files"] });
    },
  });
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  return (
    <ConfirmButton
      label={`Delete ${count}`}
      icon={<Trash2 size={14} />}
      question={`Delete ${count}?`}
      explanation="This can't be undone. Links stop working; running predictions aren't affected."
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
