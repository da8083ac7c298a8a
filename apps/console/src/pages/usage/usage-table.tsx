import type { UsageRecord } from "@gantry/sdk";
import { StatusBadge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/code.tsx";
import { count, money, seconds } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Table } from "../../ui/table.tsx";

interface UsageTableProps {
  rows: readonly UsageRecord[];
  onOpen(row: UsageRecord): void;
}

export const routeWords: Record<UsageRecord["route"], string> = {
  sync: "waited for",
  stream: "streamed",
  async: "queued",
  agent: "by an agent",
};

/** In and out, of models that count them. */
export function tokensOf({ input_tokens, output_tokens }: UsageRecord): string | undefined {
  if (input_tokens === null && output_tokens === null) return undefined;
  return `${count(input_tokens ?? 0)} in, ${count(output_tokens ?? 0)} out`;
}

/** How much of the input was read from the backend's cache or written to it. */
export function cacheUse({ cached_tokens, cache_write_tokens }: UsageRecord): string[] {
  return [
    ...(cached_tokens ? [`${count(cached_tokens)} of the input cached`] : []),
    ...(cache_write_tokens > 0 ? [`${count(cache_write_tokens)} written to the cache`] : []),
  ];
}

export function UsageTable({ rows, onOpen }: UsageTableProps) {
  return (
    <Table
      label="Predictions"
      rows={rows}
      keyOf={({ request_id }) => request_id}
      columns={[
        {
          head: "Model",
          cell: (row) => (
            <>
              <button
                type="button"
                className="wrap-anywhere text-left font-medium hover:underline"
                title="Show the result"
                onClick={() => onOpen(row)}
              >
                {row.model_name}
              </button>
              {/* Where the window is narrow there is no column for it. */}
              <p className="text-muted text-xs md:hidden">
                <Moment at={row.created_at} />
              </p>
            </>
          ),
        },
        { head: "Way", wide: true, cell: ({ route }) => <span className="text-muted">{routeWords[route]}</span> },
        { head: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
        {
          head: "Took",
          align: "right",
          wide: true,
          cell: ({ inference_time: took }) => (took === null ? <None /> : seconds(took)),
        },
        {
          head: "Tokens",
          align: "right",
          wide: true,
          cell: (row) => (
            <>
              {tokensOf(row) ?? <None />}
              {cacheUse(row).map((part) => (
                <p key={part} className="text-muted text-xs">
                  {part}
                </p>
              ))}
            </>
          ),
        },
        { head: "Cost", align: "right", cell: ({ price }) => money(price) },
        { head: "When", align: "right", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
        {
          head: "Id",
          align: "right",
          wide: true,
          cell: ({ request_id }) => <CopyButton text={request_id} label={`…${request_id.slice(-6)}`} />,
        },
      ]}
    />
  );
}

function None() {
  return <span className="text-muted">–</span>;
}
