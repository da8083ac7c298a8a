import { z } from "zod";
import {
  annotations,
  checkRequired,
  closedButForExtensions,
  extension,
  inputField,
  oneOf,
  outputField,
  tell,
} from "./field-schema.ts";
import { isRecord } from "./field-value.ts";
import { isFileList } from "./file-field.ts";

/** Fields of one input or output. */
const maxFields = 100;
/** A request has at most 32 text fields, which may include `user` and `webhook`; files are extra. */
const maxRequired = 30;
/** A field's name is a form part, a property in every client language, and a label. */
const fieldNamePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Every object inherits these, so a missing field of that name could not be detected. */
const namesOfAnyObject: readonly string[] = Object.getOwnPropertyNames(Object.prototype);
/** Fields of the request beside the input. */
const namesOfRequests: readonly string[] = ["user", "webhook"];
const secondSpelling = "i_";

const known = new Set(["type", "properties", "required", "additionalProperties", ...Object.keys(annotations)]);

function faultOfName(name: string, place: "input" | "output"): string | undefined {
  if (namesOfAnyObject.includes(name)) return `The name ${name} is reserved`;
  if (!fieldNamePattern.test(name)) {
    return "A field's name has at most 64 letters, digits, _ and -, and begins with a letter or _";
  }
  if (place === "output") return undefined;
  if (namesOfRequests.includes(name)) return `The input name ${name} is reserved for the request itself`;
  return name.startsWith(secondSpelling)
    ? `An input name must not begin with ${secondSpelling}, the second spelling of file fields`
    : undefined;
}

/** The same rules for a JSON Schema; code gives better messages about names. */
function namesDescribedFor(place: "input" | "output"): Record<string, unknown> {
  const refused =
    place === "output"
      ? { enum: namesOfAnyObject }
      : { anyOf: [{ enum: [...namesOfAnyObject, ...namesOfRequests] }, { pattern: `^${secondSpelling}` }] };
  return {
    propertyNames: { type: "string", pattern: fieldNamePattern.source, not: refused },
    maxProperties: maxFields,
    ...(place === "output" && { minProperties: 1 }),
  };
}

function requiredTexts(properties: Record<string, unknown>, required: unknown): number {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return names.filter((name) => {
    const field = typeof name === "string" ? properties[name] : undefined;
    return isRecord(field) && field.format !== "binary" && !isFileList(field);
  }).length;
}

/** The whole `input` or `output` of a manifest. Closed, because unknown form fields are always refused. */
function objectSchema(place: "input" | "output") {
  return z
    .looseObject({
      ...annotations,
      type: oneOf(["object"]),
      properties: z.record(z.string(), place === "input" ? inputField : outputField).meta(namesDescribedFor(place)),
      required: z.array(z.string()).optional(),
      additionalProperties: z.literal(false).optional(),
    })
    .superRefine(
      (schema: unknown, ctx) => {
        if (!isRecord(schema)) return;
        for (const name of Object.keys(schema)) {
          if (known.has(name) || extension.test(name)) continue;
          ctx.addIssue({ code: "unrecognized_keys", keys: [name], path: [], message: "Unknown keyword" });
        }
        checkRequired(schema, ctx);
        if (!isRecord(schema.properties)) return;
        const names = Object.keys(schema.properties);
        for (const name of names) {
          const reason = faultOfName(name, place);
          if (reason) tell(ctx, ["properties", name], reason);
        }
        const streamed = Object.entries(schema.properties).filter(
          ([, field]) => isRecord(field) && field.isStream === true,
        );
        for (const [name] of place === "output" ? streamed.slice(1) : []) {
          tell(ctx, ["properties", name, "isStream"], "A model can stream only one field");
        }
        if (place === "output" && names.length === 0) tell(ctx, ["properties"], "A model needs at least one output");
        if (names.length > maxFields) {
          ctx.addIssue({
            code: "too_big",
            origin: "set",
            maximum: maxFields,
            path: ["properties"],
            message: `At most ${maxFields} fields`,
          });
        }
        if (place === "input" && requiredTexts(schema.properties, schema.required) > maxRequired) {
          tell(ctx, ["required"], `A request can have at most ${maxRequired} required fields that are not files`);
        }
      },
      { when: () => true },
    )
    .meta(closedButForExtensions);
}

export const inputSchema = objectSchema("input");
export const outputSchema = objectSchema("output");
