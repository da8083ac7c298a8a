import { isRecord } from "../../../ui/json.rules.ts";

/** Types that the form offers. Other fields are kept and can be edited as JSON. */
export const rowTypes = ["string", "integer", "number", "boolean", "array", "object"] as const;
export type RowType = (typeof rowTypes)[number];

export interface InputRow {
  name: string;
  /** Undefined: not one of the simple types. */
  type: RowType | undefined;
  description: string;
  required: boolean;
  /** All other keywords of the field's schema. */
  rest: Record<string, unknown>;
}

export const newRow: InputRow = { name: "", type: "string", description: "", required: false, rest: {} };

type Schema = Record<string, unknown>;

export function rowsOf(schema: Schema): InputRow[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return Object.entries(properties).map(([name, field]) => {
    const { type: given, description, ...rest } = isRecord(field) ? field : {};
    const type = rowTypes.find((rowType) => rowType === given);
    return {
      name,
      type,
      description: typeof description === "string" ? description : "",
      required: required.includes(name),
      rest: type === undefined && given !== undefined ? { type: given, ...rest } : rest,
    };
  });
}

/** Keeps the other keywords of the schema. Rows without a name are left out. */
export function withRows(schema: Schema, rows: readonly InputRow[]): Schema {
  const named = rows.filter(({ name }) => name !== "");
  const properties = named.map(({ name, type, description, rest }): [string, Schema] => [
    name,
    { ...(type && { type }), ...(description !== "" && { description }), ...rest },
  ]);
  const { required: _before, ...others } = schema;
  const required = named.filter((row) => row.required).map(({ name }) => name);
  return {
    ...others,
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

export function nameFault(rows: readonly InputRow[], at: number): string | undefined {
  const name = rows[at]?.name ?? "";
  if (name === "") return undefined;
  return rows.findIndex((row) => row.name === name) < at ? "Another field has this name" : undefined;
}
