/** The part of JSON Schema that is shown to people. What others wrote may be of any form, so nothing is taken for granted. */
export interface ShownSchema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
  items?: ShownSchema;
  properties?: Record<string, ShownSchema>;
  required?: string[];
  additionalProperties?: unknown;
  writeOnly?: boolean;
  format?: string;
}

/** As `text`, `list of whole number` or `text or nothing`; undefined where the schema does not say it simply. */
export function typeWords(schema: ShownSchema): string | undefined {
  if (Array.isArray(schema.enum)) return "one of a few";
  const types = [schema.type ?? []].flat();
  const words = types.map((type) => wordOf(type, schema));
  return words.length === 0 ? undefined : words.join(" or ");
}

const plainWords: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "yes or no",
  object: "object",
  null: "nothing",
};

function wordOf(type: string, { items }: ShownSchema): string {
  if (type !== "array") return plainWords[type] ?? type;
  const entry = typeof items === "object" && items ? typeWords(items) : undefined;
  return entry ? `list of ${entry}` : "list";
}

export interface ParameterRow {
  name: string;
  type: string;
  isRequired: boolean;
  description: string;
  choices: string[];
  byDefault: string | undefined;
}

/** The arguments that a tool takes, those first that it must have. */
export function parameterRows(schema: ShownSchema): ParameterRow[] {
  const properties = typeof schema.properties === "object" && schema.properties ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rows = Object.entries(properties).map(([name, given]): ParameterRow => {
    const one: ShownSchema = typeof given === "object" && given ? given : {};
    return {
      name,
      type: typeWords(one) ?? "anything",
      isRequired: required.includes(name),
      description: typeof one.description === "string" ? one.description : "",
      choices: (Array.isArray(one.enum) ? one.enum : []).map(String),
      byDefault: one.default === undefined ? undefined : JSON.stringify(one.default),
    };
  });
  return rows.sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}
