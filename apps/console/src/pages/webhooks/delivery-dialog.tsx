import type { DeliveryRecord } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { seconds, time } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Notice } from "../../ui/notice.tsx";
import { toast } from "../../ui/toast.ts";
import { useIdempotentMutation } from "../../ui/use-idempotent-mutation.ts";
import { PredictionLink } from "../usage/prediction-link.tsx";
import { DeliveryBadge, statusTexts } from "./delivery-status.tsx";

interface DeliveryDialogProps {
  /** Undefined: closed. */
  delivery: DeliveryRecord | undefined;
  onClose(): void;
}

export function DeliveryDialog({ delivery, onClose }: DeliveryDialogProps) {
  return (
    <Dialog
      open={delivery !== undefined}
      onClose={onClose}
      title="Delivery"
      description={delivery && statusTexts[delivery.status]}
      wide
    >
      {delivery && <Delivery delivery={delivery} onClose={onClose} />}
    </Dialog>
  );
}

function Delivery({ delivery, onClose }: { delivery: DeliveryRecord; onClose(): void }) {
  const queries = useQueryClient();
  const sending = useIdempotentMutation({
    send: () => api.webhooks.resend(delivery.id),
    async onSuccess() {
      toast("Delivery sent again with the same webhook-id");
      onClose();
      await queries.invalidateQueries({ queryKey: ["deliveries"] });
    },
  });
  return (
    <div className="flex flex-col gap-4">
      {delivery.last_error && (
        <Notice tone="warn" title="Last attempt failed">
          {delivery.last_error}
        </Notice>
      )}
      <Facts
        facts={[
          ["Status", <DeliveryBadge key="status" status={delivery.status} />],
          ["URL", <code key="url">{delivery.url}</code>],
          ["webhook-id", <Copyable key="id" text={delivery.id} />],
          ["Prediction", <PredictionLink key="prediction" id={delivery.prediction_id} at={delivery.created_at} />],
          ["Attempts", delivery.attempts],
          ["Response time", delivery.latency_ms === null ? "None yet" : seconds(delivery.latency_ms / 1000)],
          ["Next attempt", <NextAttempt key="next" delivery={delivery} />],
          ["Created", time(delivery.created_at)],
        ]}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        <Button kind="primary" icon={<RotateCw size={14} />} busy={sending.isPending} onClick={() => sending.mutate()}>
          Send again
        </Button>
      </div>
    </div>
  );
}

function NextAttempt({ delivery: { next_attempt_at, status } }: { delivery: DeliveryRecord }) {
  if (next_attempt_at) return <Moment at={next_attempt_at} />;
  return status === "pending" ? "In progress" : "None";
}
