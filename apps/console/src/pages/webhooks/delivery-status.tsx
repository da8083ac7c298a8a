import type { DeliveryStatus } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import type { Tone } from "../../ui/toast.ts";

/** What each means, as the detail says it. */
export const statusWords: Record<DeliveryStatus, string> = {
  pending: "It is sent, or waits for its next attempt.",
  delivered: "The receiver answered with 2xx.",
  failed: "It was given up.",
  gone: "The receiver answered 410: it wants no more.",
};

const tones: Record<DeliveryStatus, Tone> = { pending: "info", delivered: "good", failed: "bad", gone: "warn" };

export function DeliveryBadge({ status }: { status: DeliveryStatus }) {
  return <Badge tone={tones[status]}>{status}</Badge>;
}
