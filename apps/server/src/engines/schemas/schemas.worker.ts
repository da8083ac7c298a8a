import { parentPort } from "node:worker_threads";
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { FromThread, SchemaJob } from "./protocol.ts";
import type { SchemaFault } from "./schemas.ts";

/**
 * Compiles schemas and validates with them, in a thread that can be ended: a regular expression cannot be interrupted
 * in any other way.
 */

const maxFaults = 50;
/** An Ajv keeps every schema that it compiled; after so many it is thrown away, with all that was compiled by it. */
const maxCompiled = 100;

const options: Options = {
  strict: false,
  allErrors: true,
  addUsedSchema: false,
  // A definition used in a hundred places is compiled once, not a hundred times.
  inlineRefs: false,
  logger: false,
};

type Compiled = { validate: ValidateFunction } | { faults: readonly SchemaFault[] };

let compilers = newCompilers();
const compiled = new Map<string, Compiled>();

function newCompilers() {
  const latest = new Ajv2020(options);
  const draft7 = new Ajv(options);
  for (const ajv of [latest, draft7]) addFormats.default(ajv);
  return { latest, draft7 };
}

function compile(text: string): Compiled {
  const known = compiled.get(text);
  if (known) return known;
  if (compiled.size >= maxCompiled) {
    compilers = newCompilers();
    compiled.clear();
  }
  const result = compileAnew(text);
  compiled.set(text, result);
  return result;
}

function compileAnew(text: string): Compiled {
  // `$async` is a word of Ajv, not of JSON Schema: it would make the check a promise.
  const { $schema, $async: _, ...schema } = JSON.parse(text) as Record<string, unknown>;
  const ajv = dialectOf($schema);
  if (!ajv) {
    const message = "Must be 2020-12 (https://json-schema.org/draft/2020-12/schema) or draft-07";
    return { faults: [{ path: ["$schema"], message }] };
  }
  try {
    if (!ajv.validateSchema(schema)) return { faults: faultsOf(ajv.errors) };
    return { validate: ajv.compile(schema) };
  } catch (error) {
    return { faults: [{ path: [], message: messageOf(error) }] };
  }
}

function dialectOf($schema: unknown): Ajv | Ajv2020 | undefined {
  if ($schema === undefined) return compilers.latest;
  if (typeof $schema !== "string") return undefined;
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test($schema)) return compilers.latest;
  return /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test($schema) ? compilers.draft7 : undefined;
}

function validate({ schema, value }: SchemaJob): readonly SchemaFault[] {
  const result = compile(schema);
  if ("faults" in result) return result.faults;
  if (!value) return [];
  try {
    return result.validate(value.given) ? [] : faultsOf(result.validate.errors);
  } catch (error) {
    // A schema that refers to itself without end, or a value nested deeper than the stack.
    return [{ path: [], message: error instanceof RangeError ? "Nested too deeply to be checked" : messageOf(error) }];
  }
}

/** Ajv reports one place again for every way that leads to it. */
function faultsOf(errors: ErrorObject[] | null | undefined): SchemaFault[] {
  const faults = new Map<string, SchemaFault>();
  for (const error of errors ?? []) {
    const message = explained(error);
    faults.set(`${error.instancePath} ${message}`, { path: stepsOf(error.instancePath), message });
    if (faults.size === maxFaults) break;
  }
  return faults.size > 0 ? [...faults.values()] : [{ path: [], message: "Does not match the schema" }];
}

function explained({ keyword, message = "is not allowed", params }: ErrorObject): string {
  if (keyword === "additionalProperties") return `must not have the property ${params.additionalProperty}`;
  if (keyword === "unevaluatedProperties") return `must not have the property ${params.unevaluatedProperty}`;
  if (keyword === "enum") return `must be one of ${JSON.stringify(params.allowedValues).slice(0, 500)}`;
  if (keyword === "const") return `must be ${JSON.stringify(params.allowedValue)?.slice(0, 500)}`;
  return message;
}

function stepsOf(pointer: string): (string | number)[] {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) =>
    /^\d{1,9}$/.test(step) ? Number(step) : step.replaceAll("~1", "/").replaceAll("~0", "~"),
  );
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500);
}

const send = (message: FromThread) => parentPort?.postMessage(message);

parentPort?.on("message", (job: SchemaJob) => send({ id: job.id, faults: validate(job) }));
send({ ready: true });
