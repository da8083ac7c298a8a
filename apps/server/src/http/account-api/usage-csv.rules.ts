import { type UsageRecord, usageRecord } from "@gantry/wire";

const columns = Object.keys(usageRecord.shape) as (keyof UsageRecord)[];

export const csvHeader = `${columns.join(",")}\r\n`;

/** RFC 4180; what has no value is empty. */
export function csvLines(records: readonly UsageRecord[]): string {
  return records.map((record) => `${columns.map((name) => csvField(record[name])).join(",")}\r\n`).join("");
}

export function csvField(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
