import type { DeliveryRecord, DeliveryStatus } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import type { Tone } from "../../ui/toast.ts";

const statusTexts: Record<DeliveryStatus, string> = {
  pending: "Being sent, or waiting for the first attempt.",
  delivered: "The receiver answered with 2xx.",
  failed: "Gantry makes no further attempts.",
  gone: "The receiver answered 410 and wants no further deliveries.",
};

export const statusLabels: Record<DeliveryStatus, string> = {
  pending: "Pending",
  delivered: "Delivered",
  failed: "Failed",
  gone: "Gone",
};
export const deliveryStatuses = Object.keys(statusLabels) as DeliveryStatus[];

const tones: Record<DeliveryStatus, Tone> = { pending: "info", delivered: "good", failed: "bad", gone: "warn" };

type Sent = Pick<DeliveryRecord, "status" | "last_error">;

/** An attempt has failed, and another one follows. */
const isRetried = ({ status, last_error }: Sent) => status === "pending" && last_error !== null;

export function statusText(delivery: Sent): string {
  return isRetried(delivery) ? "The last attempt failed. Gantry tries again." : statusTexts[delivery.status];
}

export function DeliveryBadge({ delivery }: { delivery: Sent }) {
  if (isRetried(delivery)) return <Badge tone="warn">Retrying</Badge>;
  return <Badge tone={tones[delivery.status]}>{statusLabels[delivery.status]}</Badge>;
}
