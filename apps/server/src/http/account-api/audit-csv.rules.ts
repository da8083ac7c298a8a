import type { AuditRecord } from "@gantry/wire";
import { csvField } from "./usage-csv.rules.ts";

const columns: readonly (readonly [
  name: string,
  value: (record: AuditRecord) => string | number | null | undefined,
])[] = [
  ["seq", ({ seq }) => seq],
  ["created_at", ({ created_at }) => created_at],
  ["action", ({ action }) => action],
  ["actor_type", ({ actor }) => actor.type],
  ["actor_id", ({ actor }) => actor.id],
  ["actor", ({ actor }) => actor.username],
  ["key_id", ({ actor }) => actor.key_id],
  ["session", ({ actor }) => String(actor.session)],
  ["address", ({ origin }) => origin?.address],
  ["user_agent", ({ origin }) => origin?.user_agent],
  ["request_id", ({ origin }) => origin?.request_id],
  ["object_type", ({ object }) => object.type],
  ["object_id", ({ object }) => object.id],
  ["object", ({ object }) => object.name],
  ["owner_id", ({ owner }) => owner?.id],
  ["owner", ({ owner }) => owner?.username],
  ["before", ({ before }) => before && JSON.stringify(before)],
  ["after", ({ after }) => after && JSON.stringify(after)],
  ["hash", ({ hash }) => hash],
];

export const auditCsvHeader = `${columns.map(([name]) => name).join(",")}\r\n`;

/** RFC 4180. Names and user agents come from users: a spreadsheet must not compute them. */
export function auditCsvLines(records: readonly AuditRecord[]): string {
  const line = (record: AuditRecord) => columns.map(([, value]) => csvField(inert(value(record)))).join(",");
  return records.map((record) => `${line(record)}\r\n`).join("");
}

function inert(value: string | number | null = null): string | number | null {
  return typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
}
