import type { UsageRecord } from "./money-records.ts";

const columns = [
  "request_id",
  "model_name",
  "route",
  "status",
  "created_at",
  "inference_time",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "price",
] as const satisfies readonly (keyof UsageRecord)[];

export const csvHeader = `${columns.join(",")}\r\n`;

/** RFC 4180; what has no value is empty. */
export function csvLines(records: readonly UsageRecord[]): string {
  return records.map((record) => `${columns.map((name) => csvField(record[name])).join(",")}\r\n`).join("");
}

export function csvField(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
