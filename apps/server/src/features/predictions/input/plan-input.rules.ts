import { type FieldSchema, fileFieldOf, type Manifest, type ObjectSchema } from "@gantry/wire";
import type { InputValue } from "../../../engines/models/driver.ts";
import { type Converter, compileConverter } from "./convert-text.rules.ts";
import { type FilePlan, planFile } from "./media.rules.ts";

type Listed = NonNullable<ReturnType<typeof fileFieldOf>>;

interface CommonPlan {
  name: string;
  isRequired: boolean;
  isNullable: boolean;
}

type TextField = CommonPlan & { kind: "text"; convert: Converter; default: InputValue | undefined };
/** The default of a file field is always null. `list` is undefined for a single file. */
export type FileField = CommonPlan & { kind: "file"; file: FilePlan; list: Listed["list"] };
export type FieldPlan = TextField | FileField;

export interface InputPlan {
  fields: readonly FieldPlan[];
  /** By every accepted name: the field's own, and `i_<name>` for a file. */
  byWireName: ReadonlyMap<string, FieldPlan>;
}

const plans = new WeakMap<ObjectSchema, InputPlan>();

const secondNamePrefix = "i_";

/** The field's own name for either name. No own name has the prefix. */
export function ownNameOf(wireName: string): string {
  return wireName.startsWith(secondNamePrefix) ? wireName.slice(secondNamePrefix.length) : wireName;
}

/** Compiled once for each manifest object. */
export function planOf(manifest: Pick<Manifest, "input">): InputPlan {
  const known = plans.get(manifest.input);
  if (known) return known;
  const plan = planInput(manifest.input);
  plans.set(manifest.input, plan);
  return plan;
}

function planInput(schema: ObjectSchema): InputPlan {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).map(([name, field]) => planField(name, field, required.has(name)));
  const byWireName = new Map<string, FieldPlan>();
  for (const field of fields) {
    byWireName.set(field.name, field);
    if (field.kind === "file") byWireName.set(secondNamePrefix + field.name, field);
  }
  return { fields, byWireName };
}

function planField(name: string, schema: FieldSchema, isRequired: boolean): FieldPlan {
  const common = { name, isRequired, isNullable: [schema.type].flat().includes("null") };
  const files = fileFieldOf(schema);
  if (files) return { ...common, kind: "file", file: planFile(files.file), list: files.list };
  const fallback = (schema.default ?? undefined) as InputValue | undefined;
  return { ...common, kind: "text", convert: compileConverter(schema), default: fallback };
}
