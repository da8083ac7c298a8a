import type { TriggerRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Inbox, Pause, Pencil, Play, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { toast } from "../../ui/toast.ts";
import { AutomationEntry } from "../automations/automation-entry.tsx";
import { TriggerAddress } from "./trigger-address.tsx";
import { TriggerDeliveries } from "./trigger-deliveries.tsx";
import { TriggerDialog } from "./trigger-dialog.tsx";

interface TriggerListProps {
  triggers: readonly TriggerRecord[];
  /** Names the agent of each trigger. */
  showsAgent?: boolean;
}

export function TriggerList({ triggers, showsAgent = false }: TriggerListProps) {
  return (
    <ul aria-label="Triggers" className="divide-y divide-line">
      {triggers.map((trigger) => (
        <Trigger key={trigger.id} trigger={trigger} showsAgent={showsAgent} />
      ))}
    </ul>
  );
}

const senders = {
  standard_webhooks: "Signed as Standard Webhooks",
  github: "Signed by GitHub",
  stripe: "Signed by Stripe",
  hmac: "Signed with an HMAC",
};

function Trigger({ trigger, showsAgent }: { trigger: TriggerRecord; showsAgent: boolean }) {
  const { id, name, verification, last_delivery_at, last_run_id } = trigger;
  return (
    <AutomationEntry
      of={trigger}
      kind="trigger"
      label={name ?? id}
      title={name ?? <code>{id}</code>}
      showsAgent={showsAgent}
      about={
        <>
          {verification ? senders[verification.type] : "Not signed"}
          {trigger.overlap === "queue" && " · One run at a time"}
        </>
      }
      actions={<Actions trigger={trigger} subject={name ?? id} />}
    >
      <Facts
        facts={[
          ["Last request", <Moment key="last" at={last_delivery_at} />],
          [
            "Last run",
            last_run_id ? (
              <TextLink key="run" to="/runs/$runId" params={{ runId: last_run_id }}>
                View run
              </TextLink>
            ) : (
              <span key="run" className="text-muted">
                Never
              </span>
            ),
          ],
        ]}
      />
    </AutomationEntry>
  );
}

function Actions({ trigger, subject }: { trigger: TriggerRecord; subject: string }) {
  const [open, setOpen] = useState<"edit" | "deliveries">();
  const [url, setUrl] = useState<string>();
  const queries = useQueryClient();
  const changed = () => queries.invalidateQueries({ queryKey: ["triggers"] });
  const switching = useMutation({
    mutationFn: (enabled: boolean) => api.triggers.update(trigger.id, { enabled }),
    async onSuccess({ enabled }) {
      await changed();
      toast(enabled ? "Trigger resumed" : "Trigger paused", enabled ? "good" : "plain");
    },
  });
  const rotating = useMutation({
    mutationFn: () => api.triggers.rotate(trigger.id),
    onSuccess: (rotated) => setUrl(rotated.url),
  });
  const deleting = useMutation({
    mutationFn: () => api.triggers.delete(trigger.id),
    async onSuccess() {
      toast("Trigger deleted");
      await changed();
    },
  });
  const isActive = trigger.status === "active";
  return (
    <div className="flex flex-wrap items-center gap-1">
      <Button
        kind="quiet"
        icon={<Inbox size={14} />}
        aria-label={`Deliveries to ${subject}`}
        onClick={() => setOpen("deliveries")}
      >
        Deliveries
      </Button>
      <Button
        kind="quiet"
        icon={isActive ? <Pause size={14} /> : <Play size={14} />}
        aria-label={`${isActive ? "Pause" : "Resume"} ${subject}`}
        busy={switching.isPending}
        onClick={() => switching.mutate(!isActive)}
      >
        {isActive ? "Pause" : "Resume"}
      </Button>
      <Button kind="quiet" icon={<Pencil size={14} />} aria-label={`Edit ${subject}`} onClick={() => setOpen("edit")}>
        Edit
      </Button>
      <ConfirmButton
        quiet
        label="New address"
        subject={`of ${subject}`}
        icon={<RotateCw size={14} />}
        question={`Replace the address of ${subject}?`}
        explanation="The current address stops working at once. Enter the new one in the service that uses it."
        onConfirm={() => rotating.mutateAsync()}
      />
      <ConfirmButton
        quiet
        label="Delete"
        subject={subject}
        icon={<Trash2 size={14} />}
        question={`Delete ${subject}?`}
        explanation="Its address stops working. Past runs stay."
        onConfirm={() => deleting.mutateAsync()}
      />
      {open === "edit" && (
        <TriggerDialog
          // The template exists already, so the schema of the agent is not needed.
          agent={{ id: trigger.agent_id, name: trigger.agent_name, schema: {} }}
          trigger={trigger}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === "deliveries" && <TriggerDeliveries trigger={trigger} onClose={() => setOpen(undefined)} />}
      <TriggerAddress url={url} isSigned={trigger.verification !== null} onClose={() => setUrl(undefined)} />
    </div>
  );
}
