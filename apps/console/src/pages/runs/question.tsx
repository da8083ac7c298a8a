import type { ConfirmationRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, X } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { Moment } from "../../ui/moment.tsx";
import { Failure } from "../../ui/notice.tsx";
import { toast } from "../../ui/toast.ts";
import { writePreviewOf } from "../identity/write-preview.rules.ts";
import { WritePreview } from "../identity/write-preview.tsx";

/** What a run asks before it acts: all that would be done, and the two answers. */
export function Question({ runId, asked }: { runId: string; asked: ConfirmationRecord }) {
  const [reason, setReason] = useState("");
  const queries = useQueryClient();
  const answering = useMutation({
    meta: { showsFailure: true },
    mutationFn: (approve: boolean) => {
      const said = reason.trim() === "" ? {} : { reason: reason.trim() };
      const { confirmations } = api.runs;
      return approve ? confirmations.approve(runId, asked.id, said) : confirmations.deny(runId, asked.id, said);
    },
    onSuccess: ({ status }) => toast(`${asked.tool} is ${status}`, status === "approved" ? "good" : "plain"),
    // Also after a failure: somebody else may have answered.
    onSettled: () => queries.invalidateQueries({ queryKey: ["runs"] }),
  });
  const preview = writePreviewOf(asked.details);
  const answer = (approve: boolean) => answering.isPending && answering.variables === approve;
  return (
    <section aria-label={`Question about ${asked.tool}`} className="rounded-lg border border-warn/50 bg-panel">
      <header className="flex flex-wrap items-center justify-between gap-2 rounded-t-lg border-warn/40 border-b bg-warn-soft px-4 py-2.5">
        <h2 className="flex flex-wrap items-center gap-2 font-semibold">
          <span>
            May it call <code>{asked.tool}</code>?
          </span>
          {preview?.destructive && <Badge tone="bad">cannot be undone</Badge>}
        </h2>
        <span className="text-muted text-xs">
          without an answer it is a no <Moment at={asked.expires_at} />
        </span>
      </header>
      <div className="flex flex-col gap-4 p-4">
        {asked.run_id !== runId && (
          <p>
            A{" "}
            <Link to="/runs/$runId" params={{ runId: asked.run_id }} className="text-accent hover:underline">
              run below this one
            </Link>{" "}
            asks.
          </p>
        )}
        {preview ? (
          <WritePreview preview={preview} />
        ) : (
          <>
            <CodeBlock wrap label="Arguments" text={pretty(asked.arguments)} />
            {asked.details && <CodeBlock wrap label="What follows from it" text={pretty(asked.details)} />}
          </>
        )}
        {answering.isError && <Failure error={answering.error} />}
        <div className="flex flex-wrap items-end gap-2">
          <div className="min-w-48 flex-1">
            <Field label="Reason" hint="Told to the model; may be left empty.">
              {(control) => (
                <TextInput
                  {...control}
                  maxLength={2000}
                  value={reason}
                  onChange={(event) => setReason(event.target.value)}
                />
              )}
            </Field>
          </div>
          <div className="flex gap-2 sm:pb-5">
            <Button
              kind="danger"
              icon={<X size={14} />}
              busy={answer(false)}
              disabled={answering.isPending}
              onClick={() => answering.mutate(false)}
            >
              Deny
            </Button>
            <Button
              kind="primary"
              icon={<Check size={14} />}
              busy={answer(true)}
              disabled={answering.isPending}
              onClick={() => answering.mutate(true)}
            >
              Approve
            </Button>
          </div>
        </div>
      </div>
    </section>
  );
}
