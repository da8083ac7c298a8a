import type { IdpActionRecord } from "@gantry/sdk";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { toast } from "../../ui/toast.ts";
import { splitSecret } from "./one-time-secret.rules.ts";
import { previewIn, type WritePreview } from "./write-preview.rules.ts";

export type Arguments = Readonly<Record<string, unknown>>;

export interface Answer {
  result: unknown;
  warnings: readonly string[];
}

interface Question {
  preview: WritePreview;
  args: Arguments;
}

/**
 * read:   run ──► answer
 * write:  run ──► question ──► confirm ──► answer (and perhaps a secret)
 *                     └──────► dismiss
 */
export function useActionRun(action: IdpActionRecord, onWritten: () => void) {
  const [question, setQuestion] = useState<Question>();
  const [secret, setSecret] = useState<string>();
  const [answer, setAnswer] = useState<Answer>();
  const running = useMutation({
    meta: { showsFailure: true },
    // Arguments may have a password in them.
    gcTime: 0,
    async mutationFn({ args, confirm }: { args: Arguments; confirm: boolean }) {
      try {
        const { result, warnings = [] } = await api.idp.run(action.name, args, confirm ? { confirm } : {});
        const parts = splitSecret(action.name, result);
        // Here and nowhere else, so that it is gone when its dialog is.
        setSecret(parts.secret);
        setAnswer({ result: parts.result, warnings });
        if (!confirm) return;
        toast(`${action.name} is done`);
        onWritten();
      } catch (error) {
        const preview = previewIn(error);
        if (!preview) throw error;
        setQuestion({ preview, args });
      }
    },
    onSettled: (_done, _error, { confirm }) => {
      if (confirm) setQuestion(undefined);
    },
  });
  return {
    answer,
    question: question?.preview,
    secret,
    isPending: running.isPending,
    error: running.error,
    run(args: Arguments) {
      setAnswer(undefined);
      running.mutate({ args, confirm: false });
    },
    /** Sends exactly what was asked about. */
    confirm: () => question && running.mutate({ args: question.args, confirm: true }),
    dismiss: () => setQuestion(undefined),
    forgetSecret: () => setSecret(undefined),
  };
}
