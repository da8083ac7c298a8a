import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { effectOfDeletion, type SecretUses } from "./secret-users.rules.ts";

export function DeleteSecret({ name, uses }: { name: string; uses: SecretUses | undefined }) {
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => api.secrets.delete(name),
    async onSuccess() {
      toast(`Secret ${name} deleted`);
      await queries.invalidateQueries({ queryKey: ["secrets"] });
    },
  });
  return (
    <ConfirmButton
      label="Delete"
      subject={name}
      quiet
      question={`Delete secret ${name}?`}
      explanation={effectOfDeletion(uses)}
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
