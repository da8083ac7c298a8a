import type { StandardSchemaV1 } from "@modelcontextprotocol/client";

export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A result as it came: it is read by hand, so that one odd entry does not spoil the rest. */
export const anyObject: StandardSchemaV1<unknown, Json> = {
  "~standard": {
    version: 1,
    vendor: "gantry",
    validate: (value) => (isObject(value) ? { value } : { issues: [{ message: "no object" }] }),
  },
};
