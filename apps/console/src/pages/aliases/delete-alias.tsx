import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { type AliasScope, aliasesOf } from "./alias-scope.ts";

export function DeleteAlias({ name, scope }: { name: string; scope: AliasScope }) {
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => aliasesOf(scope).delete(name),
    async onSuccess() {
      toast(`Alias ${name} deleted`);
      await queries.invalidateQueries({ queryKey: ["aliases"] });
    },
  });
  return (
    <ConfirmButton
      label="Delete"
      subject={name}
      quiet
      question={`Delete alias ${name}?`}
      explanation="Programs and agents that use this name fail. The model itself is not deleted."
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
