import type { DeliveryRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/code.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { seconds, time } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Notice } from "../../ui/notice.tsx";
import { toast } from "../../ui/toast.ts";
import { DeliveryBadge, statusWords } from "./delivery-status.tsx";

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
      description={delivery && statusWords[delivery.status]}
      wide
    >
      {delivery && <Delivery delivery={delivery} onClose={onClose} />}
    </Dialog>
  );
}

function Delivery({ delivery, onClose }: { delivery: DeliveryRecord; onClose(): void }) {
  const queries = useQueryClient();
  const sending = useMutation({
    mutationFn: () => api.webhooks.resend(delivery.id),
    async onSuccess() {
      toast("It is sent again, under the same webhook-id");
      onClose();
      await queries.invalidateQueries({ queryKey: ["deliveries"] });
    },
  });
  return (
    <div className="flex flex-col gap-4">
      {delivery.last_error && (
        <Notice tone="warn" title="The last attempt failed">
          {delivery.last_error}
        </Notice>
      )}
      <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[10rem_1fr]">
        <Fact name="Status">
          <DeliveryBadge status={delivery.status} />
        </Fact>
        <Fact name="Address">
          <code className="break-all">{delivery.url}</code>
        </Fact>
        <Fact name="webhook-id">
          <code className="break-all">{delivery.id}</code> <CopyButton text={delivery.id} />
        </Fact>
        <Fact name="Prediction">
          <Link to="/usage" search={{ q: delivery.prediction_id }} className="break-all text-accent hover:underline">
            {delivery.prediction_id}
          </Link>
        </Fact>
        <Fact name="Attempts">{delivery.attempts}</Fact>
        <Fact name="Last answer took">
          {delivery.latency_ms === null ? "not yet" : seconds(delivery.latency_ms / 1000)}
        </Fact>
        <Fact name="Next attempt">
          {delivery.next_attempt_at ? (
            <Moment at={delivery.next_attempt_at} />
          ) : delivery.status === "pending" ? (
            "under way"
          ) : (
            "none"
          )}
        </Fact>
        <Fact name="Created">{time(delivery.created_at)}</Fact>
      </dl>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        <Button kind="primary" icon={<RotateCw size={14} />} busy={sending.isPending} onClick={() => sending.mutate()}>
          Send again
        </Button>
      </div>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
