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
      toast(`${nameOf(apiKey)} is revoked`);
      await queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  return (
    <ConfirmButton
      label="Revoke"
      quiet
      question={`Revoke ${nameOf(apiKey)}?`}
      explanation={
        <>
          Whatever uses <code>{apiKey.public}</code> is refused at once, for good. If you signed in with it, you are
          signed out.
        </>
      }
      onConfirm={() => revoking.mutateAsync()}
    />
  );
}
