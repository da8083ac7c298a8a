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

export const modeLabels: Record<UsageRecord["route"], string> = {
  sync: "Sync",
  stream: "Streamed",
  async: "Queued",
  agent: "Agent",
};

const doorLabels: Record<NonNullable<UsageRecord["door"]>, string> = {
  "openai-chat": "OpenAI Chat",
  "openai-responses": "OpenAI Responses",
  "openai-embeddings": "OpenAI Embeddings",
  "openai-images": "OpenAI Images",
  "anthropic-messages": "Anthropic Messages",
  mcp: "MCP",
};

/** Undefined for Gantry's own API. */
export const doorOf = ({ door }: UsageRecord): string | undefined => (door === null ? undefined : doorLabels[door]);

/** Undefined for models without token counts. */
export function tokensOf({ input_tokens, output_tokens }: UsageRecord): string | undefined {
  if (input_tokens === null && output_tokens === null) return undefined;
  return `${count(input_tokens ?? 0)} in, ${count(output_tokens ?? 0)} out`;
}

export function cacheUse({ cached_tokens, cache_write_tokens }: UsageRecord): string[] {
  return [
    ...(cached_tokens ? [`${count(cached_tokens)} cached`] : []),
    ...(cache_write_tokens > 0 ? [`${count(cache_write_tokens)} written to cache`] : []),
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
                title="Show result"
                onClick={() => onOpen(row)}
              >
                {row.model_name}
              </button>
              {/* Replaces the hidden column on narrow screens. */}
              <p className="text-muted text-xs md:hidden">
                <Moment at={row.created_at} />
              </p>
            </>
          ),
        },
        {
          head: "Mode",
          wide: true,
          cell: (row) => (
            <div className="text-muted">
              {modeLabels[row.route]}
              {row.door !== null && <p className="text-xs">{doorOf(row)}</p>}
              {row.backend !== null && <p className="text-xs">by {row.backend}</p>}
            </div>
          ),
        },
        { head: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
        {
          head: "Duration",
          align: "right",
          wide: true,
          cell: ({ inference_time }) => (inference_time === null ? <None /> : seconds(inference_time)),
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
        { head: "Finished", align: "right", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
        {
          head: "ID",
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
