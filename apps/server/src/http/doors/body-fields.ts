import { type Fault, fault, type Loc } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";

/** A field of a request, and where it is. Absent and null fields are the same. */
export interface Field {
  value: unknown;
  loc: Loc;
}

export function fieldOf(body: Readonly<Record<string, unknown>>, name: string, within: Loc = ["body"]): Field {
  return { value: body[name] ?? undefined, loc: [...within, name] };
}

export function invalid({ loc }: Pick<Field, "loc">, msg: string): Fault {
  return fault("value_error", msg, { loc });
}

export function missing({ loc }: Pick<Field, "loc">): Fault {
  return fault("missing", "Field required", { loc });
}

export function optionalText(field: Field): string | undefined {
  if (field.value === undefined) return undefined;
  if (typeof field.value !== "string") throw fault("string_type", "Value must be text.", { loc: field.loc });
  return field.value;
}

export function requiredText(field: Field): string {
  const text = optionalText(field);
  if (text === undefined || text === "") throw missing(field);
  return text;
}

export function optionalBoolean(field: Field): boolean | undefined {
  if (field.value === undefined || typeof field.value === "boolean") return field.value;
  throw invalid(field, "Value must be true or false.");
}

export function optionalNumber(
  field: Field,
  { from, to = Number.POSITIVE_INFINITY, whole = false }: { from: number; to?: number; whole?: boolean },
): number | undefined {
  const { value } = field;
  if (value === undefined) return undefined;
  const what = whole ? "a whole number" : "a number";
  if (typeof value !== "number" || (whole && !Number.isSafeInteger(value)))
    throw invalid(field, `Value must be ${what}.`);
  if (value >= from && value <= to) return value;
  throw invalid(
    field,
    to === Number.POSITIVE_INFINITY ? `Value must be at least ${from}.` : `Value must be between ${from} and ${to}.`,
  );
}

export function optionalOneOf<const Option extends string>(
  field: Field,
  options: readonly Option[],
): Option | undefined {
  const text = optionalText(field);
  if (text === undefined) return undefined;
  const found = options.find((option) => option === text);
  if (found !== undefined) return found;
  throw fault("one_of", `Value is not one of the allowed options: ${options.join(", ")}.`, { loc: field.loc });
}

export function optionalList(field: Field): readonly unknown[] | undefined {
  if (field.value === undefined || Array.isArray(field.value)) return field.value;
  throw invalid(field, "Value must be a list.");
}

export function optionalRecord(field: Field): Record<string, unknown> | undefined {
  if (field.value === undefined || isRecord(field.value)) return field.value;
  throw invalid(field, "Value must be an object.");
}

export function requiredRecord(field: Field): Record<string, unknown> {
  const record = optionalRecord(field);
  if (!record) throw missing(field);
  return record;
}
