import type { KeyRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { nameOf } from "./key-name.ts";

export function RevokeKey({ apiKey }: { apiKey: KeyRecord }) {
  const queries = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => api.account.keys.revoke(apiKey.id),
    async onSuccess() {
      toast(`Key ${nameOf(apiKey)} revoked`);
      await queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  return (
    <ConfirmButton
      label="Revoke"
      quiet
      question={`Revoke key ${nameOf(apiKey)}?`}
      explanation={
        <>
          Apps using <code>{apiKey.public}</code> lose access immediately. This can't be undone. If you signed in with
          this key, you are signed out.
        </>
      }
      onConfirm={() => revoking.mutateAsync()}
    />
  );
}
