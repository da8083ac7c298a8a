import { type FieldRow, fieldRows, type Schema } from "../../../ui/schema-text.rules.ts";

/** One row for numbered fields of the same type, such as image, image1 and image2. */
export function groupedRows(schema: Schema): FieldRow[] {
  const rows: FieldRow[] = [];
  for (const [key, group] of Map.groupBy(fieldRows(schema), keyOf)) {
    const [first, ...more] = group;
    const last = more.at(-1);
    if (!first || !last || !isNumbered(key)) rows.push(...group);
    else rows.push({ ...first, name: nameOf(first.name, more) });
  }
  return rows;
}

const numbered = /^(.*?)_?(\d+)$/;
const isNumbered = (key: string): boolean => key.startsWith("[");

/** Equal for fields that differ only in their number. */
function keyOf({ name, kind, isRequired, initial }: FieldRow): string {
  if (isRequired) return name;
  return JSON.stringify([numbered.exec(name)?.[1] ?? name, kind, initial]);
}

/** For example "image, image1 – image9". */
function nameOf(first: string, more: readonly FieldRow[]): string {
  const [next, last] = [more[0]?.name ?? "", more.at(-1)?.name ?? ""];
  if (next === last) return `${first}, ${last}`;
  return numbered.test(first) ? `${first} – ${last}` : `${first}, ${next} – ${last}`;
}
