import type { DeliveryDetailsRecord } from "@gantry/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { Facts } from "../../ui/facts.tsx";
import { time } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Loaded, Notice } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";
import { useIdempotentMutation } from "../../ui/use-idempotent-mutation.ts";
import { PredictionLink } from "../predictions/prediction-link.tsx";
import { AttemptLog } from "./attempt-log.tsx";
import { eventLabels } from "./delivery-event.rules.ts";
import { DeliveryBadge, statusText } from "./delivery-status.tsx";

const refreshMs = 2_000;

export function DeliveryPage() {
  const { deliveryId } = useParams({ from: "/app/webhooks/$deliveryId" });
  const queries = useQueryClient();
  const delivery = useQuery({
    queryKey: ["deliveries", "one", deliveryId],
    queryFn: ({ signal }) => api.webhooks.delivery(deliveryId, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? refreshMs : false),
  });
  const sending = useIdempotentMutation({
    send: () => api.webhooks.resend(deliveryId),
    async onSuccess() {
      toast("Sending again with the same webhook-id");
      await queries.invalidateQueries({ queryKey: ["deliveries"] });
    },
  });
  return (
    <Page
      title="Delivery"
      lead={<TextLink to="/webhooks">All deliveries</TextLink>}
      actions={
        delivery.data && (
          <Button icon={<RotateCw size={14} />} busy={sending.isPending} onClick={() => sending.mutate()}>
            Send again
          </Button>
        )
      }
    >
      <Loaded query={delivery}>{(data) => <Delivery delivery={data} />}</Loaded>
    </Page>
  );
}

function Delivery({ delivery }: { delivery: DeliveryDetailsRecord }) {
  return (
    <>
      {delivery.last_error && (
        <Notice tone={delivery.status === "pending" ? "warn" : "bad"} title="Last attempt failed">
          {delivery.last_error}
        </Notice>
      )}
      <Panel>
        <Facts
          facts={[
            [
              "Status",
              <span key="status">
                <DeliveryBadge delivery={delivery} /> <span className="text-muted">{statusText(delivery)}</span>
              </span>,
            ],
            ["URL", <code key="url">{delivery.url}</code>],
            ["webhook-id", <Copyable key="id" text={delivery.id} />],
            ["Event", <Event key="event" delivery={delivery} />],
            ["Next attempt", <NextAttempt key="next" delivery={delivery} />],
            ["Created", time(delivery.created_at)],
          ]}
        />
      </Panel>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <AttemptLog delivery={delivery} />
        <Panel title="Request">
          <div className="flex flex-col gap-4">
            <CodeBlock label="Headers" text={headerLines(delivery.headers)} wrap />
            {delivery.payload === null ? (
              <p className="text-muted">The content of this {delivery.kind} was deleted, and the payload with it.</p>
            ) : (
              <CodeBlock label="Payload" language="json" text={JSON.stringify(delivery.payload, null, 2)} wrap />
            )}
          </div>
        </Panel>
      </div>
    </>
  );
}

/** The last two differ in each attempt. */
function headerLines(headers: Record<string, string>): string {
  return [
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "webhook-timestamp: time of the attempt",
    "webhook-signature: v1,…",
  ].join("\n");
}

function Event({ delivery: { kind, prediction_id, run_id, event } }: { delivery: DeliveryDetailsRecord }) {
  if (run_id !== null) {
    return (
      <span>
        {event && `${eventLabels[event]}: `}
        <TextLink to="/runs/$runId" params={{ runId: run_id }}>
          {run_id}
        </TextLink>
      </span>
    );
  }
  if (kind === "notice") return <TextLink to="/money">Notice of low money</TextLink>;
  return kind === "test" || prediction_id === null ? "Test event" : <PredictionLink id={prediction_id} />;
}

function NextAttempt({ delivery: { next_attempt_at, status } }: { delivery: DeliveryDetailsRecord }) {
  if (next_attempt_at) return <Moment at={next_attempt_at} />;
  return status === "pending" ? "In progress" : "None";
}
