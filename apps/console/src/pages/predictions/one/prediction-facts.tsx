import type { PredictionRecord } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTraceLink } from "../../../shell/trace-link.tsx";
import { CopyButton } from "../../../ui/code.tsx";
import { Facts } from "../../../ui/facts.tsx";
import { money, time } from "../../../ui/format.ts";
import { linkClass } from "../../../ui/link.tsx";
import { Status } from "../../../ui/status.tsx";
import { DeliveryBadge } from "../../webhooks/delivery-status.tsx";
import { ModelName } from "../model-name.tsx";
import { cacheUse, doorOf, modeLabels, tokensOf } from "../prediction-labels.ts";
import { isLive } from "../prediction-summary.rules.ts";

type Fact = readonly [name: string, value: ReactNode];

export function PredictionFacts({ prediction }: { prediction: PredictionRecord }) {
  const { id, status, status_code, mode, backend, key, request_id, created_at, webhook } = prediction;
  const tokens = tokensOf(prediction);
  const door = doorOf(prediction);
  const trace = useTraceLink(prediction.trace_id);
  const facts: Fact[] = [
    ["Status", <StatusFact key="status" status={status} code={status_code} />],
    ["Model", <ModelName key="model" name={prediction.model_name} />],
    isLive(prediction)
      ? ["On hold", money(prediction.reserved)]
      : ["Cost", prediction.price === null ? "–" : money(prediction.price)],
    ...optional("Tokens", tokens && [tokens, ...cacheUse(prediction)].join(", ")),
    ["Mode", modeLabels[mode]],
    ...optional("Protocol", door),
    ...optional("Backend", backend),
    ...optional("API key", key && (key.name || key.id)),
    ...optional("Agent", prediction.agent?.name),
    ...optional("Batch", prediction.batch_id && <BatchLink key="batch" id={prediction.batch_id} />),
    ["Created", time(created_at)],
    ...optional("Tracing", trace),
    ...optional(
      "Webhook",
      webhook && (
        <Link to="/webhooks/$deliveryId" params={{ deliveryId: webhook.delivery_id }} className={linkClass}>
          <DeliveryBadge delivery={{ status: webhook.status, last_error: null }} />
        </Link>
      ),
    ),
  ];
  return (
    <div className="flex flex-col gap-4">
      <Facts facts={facts} />
      <dl className="flex flex-col gap-2 border-line border-t pt-3">
        <Id name="ID" id={id} />
        {request_id !== null && <Id name="Request" id={request_id} />}
      </dl>
    </div>
  );
}

function BatchLink({ id }: { id: string }) {
  return (
    <Link to="/batches/$id" params={{ id }} className={`${linkClass} break-all`}>
      {id}
    </Link>
  );
}

/** Too long for the column of the other values. */
function Id({ name, id }: { name: string; id: string }) {
  return (
    <div>
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="flex items-center justify-between gap-2">
        <code className="min-w-0 break-all text-xs">{id}</code>
        <CopyButton text={id} />
      </dd>
    </div>
  );
}

const optional = (name: string, value: ReactNode): Fact[] =>
  value === null || value === undefined || value === "" ? [] : [[name, value]];

/** The code helps to find the cause in logs. */
function StatusFact({ status, code }: { status: PredictionRecord["status"]; code: number | null }) {
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Status status={status} code={code} />
      {status === "failed" && code !== null && <span className="text-muted text-xs">HTTP {code}</span>}
    </span>
  );
}
