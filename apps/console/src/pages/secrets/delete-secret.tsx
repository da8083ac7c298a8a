import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { lossWithout } from "./secret-users.rules.ts";

export function DeleteSecret({ name, users }: { name: string; users: readonly string[] | undefined }) {
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => api.secrets.delete(name),
    async onSuccess() {
      toast(`${name} is deleted`);
      await queries.invalidateQueries({ queryKey: ["secrets"] });
    },
  });
  return (
    <ConfirmButton
      label="Delete"
      quiet
      question={`Delete the secret ${name}?`}
      explanation={lossWithout(users)}
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
