import { compileFieldCheck, type FieldCheck, type FieldSchema, type ObjectSchema } from "@gantry/wire";
import { type Fault, fault } from "../../../kernel/errors.ts";
import type { StoredOutput } from "../prediction.ts";

interface OutputField {
  isRequired: boolean;
  mayBeNull: boolean;
  /** None for a file: it is stored by now, and stands in the output as its address. */
  check: FieldCheck | undefined;
}

interface OutputPlan {
  fields: ReadonlyMap<string, OutputField>;
  makesFiles: boolean;
}

const plans = new WeakMap<ObjectSchema, OutputPlan>();

/** Made once for each manifest object: an answer then costs a few map look-ups. */
function planOf(schema: ObjectSchema): OutputPlan {
  const known = plans.get(schema);
  if (known) return known;
  const required = new Set(schema.required ?? []);
  const plan: OutputPlan = {
    fields: new Map(
      Object.entries(schema.properties).map(([name, field]) => [name, planField(field, required.has(name))]),
    ),
    makesFiles: Object.values(schema.properties).some((field) => field.format === "binary"),
  };
  plans.set(schema, plan);
  return plan;
}

function planField(field: FieldSchema, isRequired: boolean): OutputField {
  return {
    isRequired,
    mayBeNull: field.type === undefined || [field.type].flat().includes("null"),
    check: field.format === "binary" ? undefined : compileFieldCheck(field),
  };
}

export function makesFiles(schema: ObjectSchema): boolean {
  return planOf(schema).makesFiles;
}

/**
 * The output, if it is what the manifest promises: every required field is there, and what is there satisfies its whole
 * schema, by the same check as what is sent. Its files are stored and stand in it as addresses. Throws what is the
 * upstream's fault, and free. A null where none is promised stands for a field that was left out, also in an object; what
 * the manifest does not name is left out.
 */
export function checkedOutput(schema: ObjectSchema, given: StoredOutput): StoredOutput {
  const plan = planOf(schema);
  const output = withoutLeftOut(plan, given);
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

function withoutLeftOut({ fields }: OutputPlan, given: StoredOutput): StoredOutput {
  const leftOut = Object.keys(given).filter((name) => {
    const field = fields.get(name);
    return field === undefined || (given[name] === null && !field.mayBeNull);
  });
  if (leftOut.length === 0) return given;
  const output = { ...given };
  for (const name of leftOut) delete output[name];
  return output;
}

function noMedia(): Fault {
  return fault("no_media_generated", "The run ended without producing any output");
}

function missing(name: string): Fault {
  return fault("downstream_service_error", `The model answered without its output field ${name}`);
}

function broken(place: string, why: string): Fault {
  const message = `The model answered its output field ${place} with what it does not promise: ${why}`;
  return fault("downstream_service_error", message);
}
