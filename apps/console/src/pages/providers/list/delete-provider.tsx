import type { ProviderRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ConfirmButton } from "../../../ui/dialog.tsx";
import { toast } from "../../../ui/toast.ts";
import { type ProviderScope, providersOf } from "../provider-scope.ts";

interface DeleteProviderProps {
  provider: ProviderRecord;
  scope: ProviderScope;
}

export function DeleteProvider({ provider: { name, models, secret }, scope }: DeleteProviderProps) {
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => providersOf(scope).delete(name),
    async onSuccess() {
      toast(`Provider ${name} deleted`);
      await queries.invalidateQueries({ queryKey: ["providers"] });
    },
  });
  const kept = [
    ...(models > 0 ? [models === 1 ? "its model" : `its ${models} models`] : []),
    ...(secret === null ? [] : [`the secret ${secret}`]),
  ];
  return (
    <ConfirmButton
      label="Delete"
      subject={name}
      quiet
      question={`Delete provider ${name}?`}
      explanation={
        kept.length === 0 ? "Nothing was imported from it." : `You keep ${kept.join(" and ")}. Models work as before.`
      }
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
