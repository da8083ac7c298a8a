import type { ConfirmationRecord, InboxConfirmation } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { Field, TextInput } from "../../ui/field.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { TextLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Failure } from "../../ui/notice.tsx";
import { toast } from "../../ui/toast.ts";
import { writePreviewOf } from "../identity/write-preview.rules.ts";
import { WritePreview } from "../identity/write-preview.tsx";

interface ConfirmationProps {
  /** The run that is answered: the one that asked, or one that started it. */
  runId: string;
  confirmation: ConfirmationRecord;
  /** Outside of the page of its run, the card says which run asks. */
  inbox?: InboxConfirmation | undefined;
}

export function Confirmation({ runId, confirmation, inbox }: ConfirmationProps) {
  const [reason, setReason] = useState("");
  const queries = useQueryClient();
  const answering = useMutation({
    meta: { showsFailure: true },
    mutationFn: (approve: boolean) => {
      const body = reason.trim() === "" ? {} : { reason: reason.trim() };
      const { confirmations } = api.runs;
      return approve
        ? confirmations.approve(runId, confirmation.id, body)
        : confirmations.deny(runId, confirmation.id, body);
    },
    onSuccess: ({ status }) => toast(`${confirmation.tool} ${status}`, status === "approved" ? "good" : "plain"),
    // Also after a failure: the confirmation may have been answered elsewhere.
    onSettled: () =>
      Promise.all(["runs", "confirmations"].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
  const preview = writePreviewOf(confirmation.details);
  const isSending = (approve: boolean) => answering.isPending && answering.variables === approve;
  return (
    <section aria-label={`Confirmation for ${confirmation.tool}`} className="rounded-lg border border-warn/50 bg-panel">
      <header className="flex flex-wrap items-center justify-between gap-2 rounded-t-lg border-warn/40 border-b bg-warn-soft px-4 py-2.5">
        <h2 className="flex flex-wrap items-center gap-2 font-semibold">
          <span>
            Allow <code>{confirmation.tool}</code>?
          </span>
          {preview?.destructive && <Badge tone="bad">Can't be undone</Badge>}
        </h2>
        <span className="text-muted text-xs">
          Denied automatically <Moment at={confirmation.expires_at} />
        </span>
      </header>
      <div className="flex flex-col gap-4 p-4">
        <Asker runId={runId} confirmation={confirmation} inbox={inbox} />
        {preview ? (
          <WritePreview preview={preview} />
        ) : (
          <>
            <CodeBlock wrap label="Arguments" language="json" text={pretty(confirmation.arguments)} />
            {confirmation.details && (
              <CodeBlock wrap label="Effects" language="json" text={pretty(confirmation.details)} />
            )}
          </>
        )}
        {answering.isError && <Failure error={answering.error} />}
        <div className="flex flex-wrap items-end gap-2">
          <div className="min-w-48 flex-1">
            <Field label="Reason" hint="Optional. The agent sees this.">
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
              busy={isSending(false)}
              disabled={answering.isPending}
              onClick={() => answering.mutate(false)}
            >
              Deny
            </Button>
            <Button
              kind="primary"
              icon={<Check size={14} />}
              busy={isSending(true)}
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

/** Who asks: on the page of the run only a sub-agent needs to be named. */
function Asker({ runId, confirmation, inbox }: ConfirmationProps) {
  const { run_id, agent, created_at } = confirmation;
  const isSubAgent = run_id !== runId;
  if (!inbox && !isSubAgent) return null;
  return (
    <p>
      Asked by {isSubAgent && "sub-agent "}
      <TextLink to="/runs/$runId" params={{ runId: run_id }}>
        {agent.name}
      </TextLink>
      {inbox && isSubAgent && (
        <>
          {" "}
          of{" "}
          <TextLink to="/runs/$runId" params={{ runId }}>
            {inbox.root_agent.name}
          </TextLink>
        </>
      )}
      {inbox ? (
        <span className="text-muted">
          {" · "}
          <Moment at={created_at} />
        </span>
      ) : (
        "."
      )}
    </p>
  );
}
