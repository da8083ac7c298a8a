import { z } from "zod";
import { isRecord, misfit, typeNames, typesOf } from "./field-value.ts";
import { isFileList, mostListedFiles, usualListedFiles } from "./file-field.ts";

/**
 * The JSON Schema that a manifest may use for its fields: a closed set of keywords, all of them enforced, plus
 * annotations and `x-…` extensions. A keyword that is not enforced would promise a check that never happens. `pattern`
 * is refused because a regular expression can run for ever, `$ref` and the combinators because a form field has one
 * type.
 */
type Place = "input" | "output" | "entry" | "nested";

type Context = z.RefinementCtx<unknown>;
type Field = Readonly<Record<string, unknown>>;

/** Cross-checks run even if single keywords are wrong, so that every fault is reported at once. */
const always = { when: () => true };
export const extension = /^x-[a-z0-9-]{1,60}$/;
const count = z.int().min(0).max(2_147_483_647).optional();

/** A string first, so that an omitted value is reported as missing and not as wrong; documents still show the enum. */
export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z
    .string()
    .meta({ enum: [...values] })
    .pipe(z.enum(values));
}

/** For `.refine(...someChange)`: a request that changes something sends at least one field. */
export const someChange = [
  (change: object): boolean => Object.values(change).some((value) => value !== undefined),
  {
    message: "Nothing to change. Send at least one field.",
    // Faults of fields are reported without it.
    when: ({ issues }: { issues: readonly unknown[] }): boolean => issues.length === 0,
  },
] as const;

export const annotations = {
  title: z.string().max(200).optional(),
  description: z.string().max(4000).optional(),
};

const keywords = {
  ...annotations,
  type: z
    .unknown()
    .optional()
    .meta({
      anyOf: [
        { enum: typeNames.filter((name) => name !== "null") },
        { type: "array", items: { enum: [...typeNames] }, minItems: 1, maxItems: 2 },
      ],
      description: 'One type. With `null`, as in `["string", "null"]`, the field may be empty.',
    }),
  default: z.unknown().optional(),
  examples: z.array(z.unknown()).max(20).optional(),
  deprecated: z.boolean().optional(),
  enum: z.array(z.unknown()).min(1).max(500).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  items: z.lazy(() => nestedField).optional(),
  properties: z.lazy(() => z.record(z.string(), nestedField)).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.boolean().optional(),
  format: oneOf(["binary", "uri", "date-time"]).optional().describe("`binary` is a file; the others are validated."),
  "x-media": oneOf(["image", "video", "audio", "file"]).optional().describe("The kind of file."),
  "x-formats": z
    .array(z.string().regex(/^\.[a-z0-9]{1,8}$/, "Must be a file name extension such as .png"))
    .min(1)
    .max(50)
    .optional()
    .describe("Allowed file name extensions. Default: those of the media type."),
  "x-max-duration": z.number().gt(0).max(86_400).optional().describe("Seconds; videos only."),
  isStream: z
    .boolean()
    .optional()
    .describe("Output only: delivered while it is produced. A text model has one such field."),
};

/** Keywords that apply to some types only. */
const onlyFor: Readonly<Record<string, readonly string[]>> = {
  minimum: ["number", "integer"],
  maximum: ["number", "integer"],
  minLength: ["string"],
  maxLength: ["string"],
  format: ["string"],
  minItems: ["array"],
  maxItems: ["array"],
  items: ["array"],
  properties: ["object"],
  required: ["object"],
  additionalProperties: ["object"],
};

export function tell(ctx: Context, path: PropertyKey[], message: string): void {
  ctx.addIssue({ code: "custom", path, message });
}

function checkType(field: Field, place: Place, ctx: Context): void {
  const { type } = field;
  if (type === undefined) {
    // A form part is text, so its type must be known to parse it.
    if (place === "input")
      ctx.addIssue({ code: "invalid_type", expected: "string", path: ["type"], message: "Field required" });
    return;
  }
  const given = Array.isArray(type) ? type : [type];
  const known: readonly unknown[] = typeNames;
  if (given.length === 0 || !given.every((name) => known.includes(name))) {
    ctx.addIssue({
      code: "invalid_value",
      values: [...typeNames],
      path: ["type"],
      message: `Must be one of ${typeNames.join(", ")}, or a list of one of them and null`,
    });
  } else if (new Set(given).size !== given.length || given.filter((name) => name !== "null").length !== 1) {
    tell(ctx, ["type"], "Must be one type, alone or in a list with null");
  }
}

function checkKeywords(field: Field, ctx: Context): void {
  for (const name of Object.keys(field)) {
    if (Object.hasOwn(keywords, name) || extension.test(name)) continue;
    if (name === "pattern") tell(ctx, [name], "pattern is not supported. Use enum, minLength, maxLength or format.");
    else if (name === "$ref") tell(ctx, [name], "References are not supported. Write the schema inline.");
    else ctx.addIssue({ code: "unrecognized_keys", keys: [name], path: [], message: "Unknown keyword" });
  }
  const types = typesOf(field);
  for (const [name, owners] of Object.entries(onlyFor)) {
    if (field[name] !== undefined && !types.some((type) => owners.includes(type))) {
      tell(ctx, [name], `Does not apply to this type, only to ${owners.join(" and ")}`);
    }
  }
  for (const [least, most] of [
    ["minimum", "maximum"],
    ["minLength", "maxLength"],
    ["minItems", "maxItems"],
  ] as const) {
    const [low, high] = [field[least], field[most]];
    if (typeof low === "number" && typeof high === "number" && low > high)
      tell(ctx, [least], `Must not be greater than ${most}`);
  }
}

function checkValues(field: Field, ctx: Context): void {
  const { enum: allowed, ...rest } = field;
  if (Array.isArray(allowed)) {
    const seen = new Set<string>();
    for (const [index, value] of allowed.entries()) {
      const reason = misfit(rest, value);
      const text = JSON.stringify(value);
      if (reason) tell(ctx, ["enum", index], `The value ${reason}`);
      else if (seen.has(text)) tell(ctx, ["enum", index], "Listed twice");
      seen.add(text);
    }
  }
  if (field.default !== undefined) {
    const reason = misfit(field, field.default);
    if (reason) tell(ctx, ["default"], `The default ${reason}`);
  }
}

function checkFile(field: Field, place: Place, ctx: Context): void {
  if (field.format !== "binary") {
    for (const name of ["x-media", "x-formats", "x-max-duration"]) {
      if (field[name] !== undefined) tell(ctx, [name], "Only file fields (format binary) have this keyword");
    }
    return;
  }
  if (place === "nested") tell(ctx, ["format"], "A file must be a field of its own, or an entry of a list of files");
  if (field["x-media"] === undefined) {
    ctx.addIssue({ code: "invalid_type", expected: "string", path: ["x-media"], message: "Field required" });
  }
  if (field["x-max-duration"] !== undefined && field["x-media"] !== "video") {
    tell(ctx, ["x-max-duration"], "Only videos have this keyword");
  }
  if (field.enum !== undefined) tell(ctx, ["enum"], "A file cannot have a list of allowed values");
  if (field.default !== undefined && field.default !== null)
    tell(ctx, ["default"], "The default of a file must be null");
}

/** A list of files is a field of its own: its entries are received, stored and counted one by one. */
function checkFileList(field: Field, place: Place, ctx: Context): void {
  if ((place !== "input" && place !== "output") || !isFileList(field)) return;
  const most = mostListedFiles[place];
  if (typeof field.maxItems === "number" && field.maxItems > most) {
    tell(ctx, ["maxItems"], `A list of files can have at most ${most} entries`);
  }
  if (field.maxItems === undefined && typeof field.minItems === "number" && field.minItems > usualListedFiles) {
    tell(ctx, ["minItems"], `A list of files without maxItems has at most ${usualListedFiles} entries`);
  }
  if (field.enum !== undefined) tell(ctx, ["enum"], "A list of files cannot have a list of allowed values");
  if (field.default !== undefined && field.default !== null) {
    tell(ctx, ["default"], "The default of a list of files must be null");
  }
}

function checkStream(field: Field, place: Place, ctx: Context): void {
  if (field.isStream === undefined) return;
  if (place !== "output") tell(ctx, ["isStream"], "Only output fields can be streamed");
  else if (field.isStream === true && (field.type !== "string" || field.format !== undefined)) {
    tell(ctx, ["isStream"], "A streamed field must be a plain string");
  }
}

/** Code checks the keywords and gives better messages; for documents the set is closed too. */
export const closedButForExtensions = { additionalProperties: false, patternProperties: { [extension.source]: {} } };

function fieldAt(place: Place) {
  const { isStream, ...ofEvery } = keywords;
  const isField = place === "input" || place === "output";
  const known = isField ? { ...ofEvery, items: z.lazy(() => entryOfField).optional() } : ofEvery;
  return z
    .looseObject(place === "output" ? { ...known, isStream } : known)
    .superRefine((field: unknown, ctx) => {
      if (!isRecord(field)) return;
      checkType(field, place, ctx);
      checkKeywords(field, ctx);
      checkValues(field, ctx);
      checkFile(field, place, ctx);
      checkFileList(field, place, ctx);
      checkStream(field, place, ctx);
      checkRequired(field, ctx);
    }, always)
    .meta({ id: `${place}-field`, ...closedButForExtensions, ...(place === "input" && { required: ["type"] }) });
}

/** Also used for the whole input and output. */
export function checkRequired(schema: Field, ctx: Context): void {
  const { properties, required } = schema;
  if (!Array.isArray(required)) return;
  for (const [index, name] of required.entries()) {
    if (typeof name !== "string") continue;
    if (!isRecord(properties) || !Object.hasOwn(properties, name)) {
      tell(ctx, ["required", index], `Property ${name} does not exist`);
    } else if (required.indexOf(name) < index) tell(ctx, ["required", index], "Listed twice");
  }
}

const nestedField: z.ZodType<unknown> = fieldAt("nested");
/** The entries of a list may be files if the list is a field of the model. */
const entryOfField: z.ZodType<unknown> = fieldAt("entry");
export const inputField = fieldAt("input");
export const outputField = fieldAt("output");
