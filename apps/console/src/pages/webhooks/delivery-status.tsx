import type { DeliveryStatus } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import type { Tone } from "../../ui/toast.ts";

export const statusTexts: Record<DeliveryStatus, string> = {
  pending: "Being sent, or waiting for the next attempt.",
  delivered: "The receiver answered with 2xx.",
  failed: "Delivery failed. Gantry makes no further attempts.",
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

export function DeliveryBadge({ status }: { status: DeliveryStatus }) {
  return <Badge tone={tones[status]}>{statusLabels[status]}</Badge>;
}
