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

/** Whether the Accept header names `text/csv` and likes it no less than JSON; who likes both equally gets what it names first. */
export function prefersCsv(accept: string | undefined): boolean {
  const ranges = (accept ?? "").split(",").map((range, position) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = Number(parameters.find((one) => one.startsWith("q="))?.slice(2) ?? 1);
    return { type, quality: Number.isNaN(quality) ? 0 : quality, position };
  });
  const csv = ranges.find((range) => range.type === "text/csv");
  if (!csv || csv.quality === 0) return false;
  const json = ranges.find((range) => range.type === "application/json");
  if (!json || json.quality < csv.quality) return true;
  return json.quality === csv.quality && csv.position < json.position;
}
