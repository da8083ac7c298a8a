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
      subject={`key ${nameOf(apiKey)}`}
      quiet
      question={`Revoke key ${nameOf(apiKey)}?`}
      explanation={
        apiKey.connected_app ? (
          `${apiKey.connected_app.name} (${apiKey.connected_app.host}) loses access immediately. To use it again, connect it again.`
        ) : (
          <>
            Apps using <code>{apiKey.public}</code> lose access immediately. This can't be undone. If you signed in with
            this key, you are signed out.
          </>
        )
      }
      onConfirm={() => revoking.mutateAsync()}
    />
  );
}
