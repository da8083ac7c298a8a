import type { IdpActionRecord } from "@gantry/sdk";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { toast } from "../../ui/toast.ts";
import { splitSecret } from "./one-time-secret.rules.ts";
import { previewIn, type WritePreview } from "./write-preview.rules.ts";

export type Arguments = Readonly<Record<string, unknown>>;

export interface Response {
  result: unknown;
  warnings: readonly string[];
}

interface Confirmation {
  preview: WritePreview;
  args: Arguments;
}

/**
 * read:   run ──► response
 * write:  run ──► preview ──► confirm ──► response (and perhaps a secret)
 *                    └──────► dismiss
 */
export function useActionRun(action: IdpActionRecord, onWritten: () => void) {
  const [confirmation, setConfirmation] = useState<Confirmation>();
  const [secret, setSecret] = useState<string>();
  const [response, setResponse] = useState<Response>();
  const running = useMutation({
    meta: { showsFailure: true },
    // The arguments may contain a password, which must not stay in the cache.
    gcTime: 0,
    async mutationFn({ args, confirm }: { args: Arguments; confirm: boolean }) {
      try {
        const { result, warnings = [] } = await api.idp.run(action.name, args, confirm ? { confirm } : {});
        const parts = splitSecret(action.name, result);
        // Kept only in this state, so that closing the dialog discards it.
        setSecret(parts.secret);
        setResponse({ result: parts.result, warnings });
        if (!confirm) return;
        toast(`${action.name} done`);
        onWritten();
      } catch (error) {
        const preview = previewIn(error);
        if (!preview) throw error;
        setConfirmation({ preview, args });
      }
    },
    onSettled: (_done, _error, { confirm }) => {
      if (confirm) setConfirmation(undefined);
    },
  });
  return {
    response,
    preview: confirmation?.preview,
    secret,
    isPending: running.isPending,
    error: running.error,
    run(args: Arguments) {
      setResponse(undefined);
      running.mutate({ args, confirm: false });
    },
    /** Sends exactly the arguments of the preview. */
    confirm: () => confirmation && running.mutate({ args: confirmation.args, confirm: true }),
    dismiss: () => setConfirmation(undefined),
    forgetSecret: () => setSecret(undefined),
  };
}
