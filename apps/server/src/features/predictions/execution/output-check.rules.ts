import { compileFieldCheck, type FieldCheck, type FieldSchema, fileFieldOf, type ObjectSchema } from "@gantry/wire";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { StoredOutput } from "../prediction.ts";

interface OutputField {
  isRequired: boolean;
  mayBeNull: boolean;
  /** Undefined for a single file, whose value is an address by now. */
  check: FieldCheck | undefined;
}

interface OutputPlan {
  fields: ReadonlyMap<string, OutputField>;
  makesFiles: boolean;
}

const plans = new WeakMap<ObjectSchema, OutputPlan>();

/** Compiled once for each manifest object. */
function planOf(schema: ObjectSchema): OutputPlan {
  const known = plans.get(schema);
  if (known) return known;
  const required = new Set(schema.required ?? []);
  const plan: OutputPlan = {
    fields: new Map(
      Object.entries(schema.properties).map(([name, field]) => [name, planField(field, required.has(name))]),
    ),
    makesFiles: Object.values(schema.properties).some((field) => fileFieldOf(field) !== undefined),
  };
  plans.set(schema, plan);
  return plan;
}

function planField(field: FieldSchema, isRequired: boolean): OutputField {
  return {
    isRequired,
    mayBeNull: field.type === undefined || [field.type].flat().includes("null"),
    check: checkOf(field),
  };
}

/** The entries of a list of files are addresses by now, so only its length is checked. */
function checkOf(field: FieldSchema): FieldCheck | undefined {
  const files = fileFieldOf(field);
  if (!files) return compileFieldCheck(field);
  if (!files.list) return undefined;
  return compileFieldCheck({ type: ["array", "null"], minItems: files.list.least, maxItems: files.list.most });
}

export function makesFiles(schema: ObjectSchema): boolean {
  return planOf(schema).makesFiles;
}

/**
 * Checks that the output matches the manifest: every required field exists, and every field satisfies its schema. Fields
 * that the manifest does not name are dropped, as are nulls in fields that are not nullable. Throws a fault of the
 * upstream, for which the caller is not charged.
 */
export function checkedOutput(schema: ObjectSchema, given: StoredOutput): StoredOutput {
  const plan = planOf(schema);
  const output = withoutDropped(plan, given);
  if (plan.makesFiles && Object.keys(output).length === 0) throw noMedia();
  for (const [name, { isRequired, check }] of plan.fields) {
    const value = output[name];
    if (value === undefined) {
      if (isRequired) throw missing(name);
    } else {
      const [problem] = check?.(value, 1, true) ?? [];
      if (problem) throw broken([name, ...(problem.path ?? [])].join("."), problem.msg);
    }
  }
  return output;
}

function withoutDropped({ fields }: OutputPlan, given: StoredOutput): StoredOutput {
  const dropped = Object.keys(given).filter((name) => {
    const field = fields.get(name);
    return field === undefined || (given[name] === null && !field.mayBeNull);
  });
  if (dropped.length === 0) return given;
  const output = { ...given };
  for (const name of dropped) delete output[name];
  return output;
}

function noMedia(): Fault {
  return fault("no_media_generated", "The model produced no output");
}

function missing(name: string): Fault {
  return fault("downstream_service_error", `The model returned no value for its output field ${name}`);
}

function broken(path: string, why: string): Fault {
  const message = `The model returned an invalid value for its output field ${path}: ${why}`;
  return fault("downstream_service_error", message);
}
