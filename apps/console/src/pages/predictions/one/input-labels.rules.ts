import { isRecord } from "../../../ui/json.rules.ts";
import { type Schema, textIn } from "../../../ui/schema-text.rules.ts";

/** The title of a field in the model's schema, or its name. The model may have changed or be gone. */
export function labelOf(name: string, schema: Schema | undefined): string {
  const properties = isRecord(schema?.properties) ? schema.properties : {};
  const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return (isRecord(field) ? textIn(field.title) : undefined) ?? name;
}
