import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { SecretDialog } from "../../../ui/dialog.tsx";
import type { OfferedSecret } from "./secret-offer.rules.ts";

/** The API returns the secret only once, so it is read on a click and never cached. */
export function TakeSecret({ secret: { runId, secretId, field } }: { secret: OfferedSecret }) {
  const [shown, setShown] = useState<string>();
  const [isTaken, setTaken] = useState(false);
  const taking = useMutation({
    gcTime: 0,
    mutationFn: async () => {
      setShown((await api.runs.takeSecret(runId, secretId)).value);
      setTaken(true);
    },
  });
  return (
    <div className="mt-2">
      {isTaken ? (
        <p className="text-muted">
          <code>{field}</code> was already shown.
        </p>
      ) : (
        <Button icon={<KeyRound size={14} />} busy={taking.isPending} onClick={() => taking.mutate()}>
          Show {field} once
        </Button>
      )}
      <SecretDialog secret={shown} title={field} onClose={() => setShown(undefined)} />
    </div>
  );
}
