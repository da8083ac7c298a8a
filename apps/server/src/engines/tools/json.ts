import type { StandardSchemaV1 } from "@modelcontextprotocol/client";
import { isRecord } from "../../kernel/is-record.ts";

export type Json = Readonly<Record<string, unknown>>;

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Accepts any object. Results are read by hand, so that one malformed entry does not invalidate the others. */
export const anyObject: StandardSchemaV1<unknown, Json> = {
  "~standard": {
    version: 1,
    vendor: "gantry",
    validate: (value) => (isRecord(value) ? { value } : { issues: [{ message: "not an object" }] }),
  },
};
