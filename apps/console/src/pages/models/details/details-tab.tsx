import type { ModelCard } from "@gantry/sdk";
import { Facts } from "../../../ui/facts.tsx";
import { count, span } from "../../../ui/format.ts";
import { Moment } from "../../../ui/moment.tsx";
import { Panel } from "../../../ui/page.tsx";
import { priceParts } from "../price.rules.ts";
import { BackendFigures } from "./backend-figures.tsx";
import { FlowFigures } from "./flow-figures.tsx";
import { ModelCharts } from "./model-charts.tsx";
import { SchemaTable } from "./schema-table.tsx";

export function DetailsTab({ card }: { card: ModelCard }) {
  return (
    <div className="flex flex-col gap-5">
      {card.description && <p className="max-w-prose">{card.description}</p>}
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Panel title="Limits and price">
          <Facts facts={limitsOf(card)} />
        </Panel>
        <FlowFigures model={card.endpoint_id} />
      </div>
      {/* The API returns the list only to users who may see its figures. */}
      {card.backends && card.backends.length > 1 && <BackendFigures model={card.endpoint_id} />}
      <ModelCharts model={card.endpoint_id} />
      <SchemaTable title="Input" hasDefaults schema={card.input} />
      <SchemaTable title="Output" schema={card.output} />
    </div>
  );
}

function limitsOf(card: ModelCard) {
  const { pricing, capacity, timeout_seconds, max_queue_seconds, context_window, model_size_in_billions } = card;
  return [
    [
      "Price",
      <ul key="prices">
        {priceParts(pricing).map((part) => (
          <li key={part}>{part}</li>
        ))}
      </ul>,
    ],
    ["Capacity", capacity === 0 ? "0 (inactive)" : `${count(capacity)} concurrent, across all servers`],
    ["Timeout", span(timeout_seconds)],
    ["Max queue time", span(max_queue_seconds)],
    ...(context_window === undefined ? [] : [["Context window", `${count(context_window)} tokens`] as const]),
    ...(model_size_in_billions === undefined
      ? []
      : [["Size", `${count(model_size_in_billions)} billion parameters`] as const]),
    ["Version", count(card.version)],
    ["Updated", <Moment key="updated" at={card.updated_at} />],
  ] as const;
}
