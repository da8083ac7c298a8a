import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Failure, Loading } from "../../../ui/notice.tsx";
import { ImportSummary } from "../import-summary.tsx";
import { type ProviderScope, providersOf } from "../provider-scope.ts";
import { summaryOf } from "../upstream-models.rules.ts";

export function UpdateModels({ name, scope }: { name: string; scope: ProviderScope }) {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const updating = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => providersOf(scope).import(name),
    onSuccess: () =>
      Promise.all([["models"], ["providers"]].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
  const open = () => {
    setOpen(true);
    updating.mutate();
  };
  const changed = updating.data?.filter(({ outcome, kept }) => outcome !== "unchanged" || kept.length > 0) ?? [];
  return (
    <>
      <Button kind="quiet" aria-label={`Update models of ${name}`} onClick={open}>
        Update models
      </Button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title={`Models of ${name}`}
        description="Follows what the provider changed. What you edited stays."
      >
        {updating.isPending && <Loading />}
        {updating.isError && <Failure error={updating.error} onRetry={() => updating.mutate()} />}
        {updating.data && (
          <div className="flex flex-col gap-3">
            <p className="font-medium">{summaryOf(updating.data)}</p>
            <ImportSummary results={changed} />
          </div>
        )}
      </Dialog>
    </>
  );
}
