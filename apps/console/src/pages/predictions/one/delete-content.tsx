import type { PredictionRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { api } from "../../../api/client.ts";
import { ConfirmButton } from "../../../ui/dialog.tsx";
import { toast } from "../../../ui/toast.ts";

/** The usage row stays, because the ledger depends on it. */
export function DeleteContent({ prediction: { id, files } }: { prediction: PredictionRecord }) {
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => api.predictions.deleteContent(id),
    async onSuccess() {
      toast("Content deleted");
      await Promise.all([
        queries.invalidateQueries({ queryKey: ["predictions"] }),
        queries.invalidateQueries({ queryKey: ["files"] }),
      ]);
    },
  });
  const count = Object.keys(files).length;
  const outputFiles = count === 0 ? "" : count === 1 ? ", 1 output file" : `, ${count} output files`;
  return (
    <ConfirmButton
      label="Delete content"
      icon={<Trash2 size={14} />}
      quiet
      question="Delete the content of this prediction?"
      explanation={
        <>
          Deletes the input, output and error text{outputFiles}, and the webhook payload. Links to its files stop
          working.
          <br />
          <br />
          Model, times, tokens and cost stay in your usage. This can't be undone.
        </>
      }
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
