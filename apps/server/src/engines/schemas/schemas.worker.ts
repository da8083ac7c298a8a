import { parentPort } from "node:worker_threads";
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { FromThread, Numbered } from "../../kernel/job-thread.ts";
import { requirementOf } from "../../kernel/json-schema-text.rules.ts";
import type { SchemaFault } from "./schemas.ts";

/**
 * Runs in a thread, because a regular expression can be interrupted only by ending its thread. The schema is JSON, which
 * is also the key of its compiled form.
 */
export interface SchemaJob {
  schema: string;
  /** Without a value only the schema is checked. */
  value?: { given: unknown };
  /** See `Schemas.validateLoosely`. */
  isLoose?: boolean;
}

const maxFaults = 50;
/** Size of the LRU cache. */
const maxCompiled = 200;

const options: Options = {
  strict: false,
  allErrors: true,
  logger: false,
  // Compile a shared definition once, not at each reference.
  inlineRefs: false,
  // An inherited `toString` does not satisfy `required`.
  ownProperties: true,
};

interface Dialect {
  /** Checks schemas against the meta-schema. */
  meta: Ajv | Ajv2020;
  /** Without the meta-schema; if loose, also without formats. */
  blank(isLoose: boolean): Ajv | Ajv2020;
}

const withFormats = <T extends Ajv | Ajv2020>(ajv: T): T => {
  addFormats.default(ajv);
  return ajv;
};
const blankOptions: Options = { ...options, meta: false, validateSchema: false };
const looseOptions: Options = { ...blankOptions, validateFormats: false };
const latest: Dialect = {
  meta: withFormats(new Ajv2020(options)),
  blank: (isLoose) => (isLoose ? new Ajv2020(looseOptions) : withFormats(new Ajv2020(blankOptions))),
};
const draft7: Dialect = {
  meta: withFormats(new Ajv(options)),
  blank: (isLoose) => (isLoose ? new Ajv(looseOptions) : withFormats(new Ajv(blankOptions))),
};

type Compiled = { validate: ValidateFunction } | { faults: readonly SchemaFault[] };
const compiled = new Map<string, Compiled>();

function compile(text: string, isLoose: boolean): Compiled {
  const name = isLoose ? `loose ${text}` : text;
  const result = compiled.get(name) ?? compileUncached(text, isLoose);
  compiled.delete(name);
  compiled.set(name, result);
  const [oldest] = compiled.keys();
  if (compiled.size > maxCompiled && oldest !== undefined) compiled.delete(oldest);
  return result;
}

function compileUncached(text: string, isLoose: boolean): Compiled {
  // `$async` is a keyword of Ajv, not of JSON Schema. It would make the check return a promise.
  const { $schema, $async: _, ...schema } = JSON.parse(text) as Record<string, unknown>;
  const dialect = dialectOf($schema);
  if (!dialect) {
    const message = "Must be 2020-12 (https://json-schema.org/draft/2020-12/schema) or draft-07";
    return { faults: [{ path: ["$schema"], message }] };
  }
  try {
    if (!dialect.meta.validateSchema(schema)) return { faults: faultsOf(dialect.meta.errors) };
    // A separate Ajv, so that schemas do not see each other's names and are freed with it.
    return { validate: dialect.blank(isLoose).compile(schema) };
  } catch (error) {
    return { faults: [{ path: [], message: messageOf(error) }] };
  }
}

function dialectOf($schema: unknown): Dialect | undefined {
  if ($schema === undefined) return latest;
  if (typeof $schema !== "string") return undefined;
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test($schema)) return latest;
  return /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test($schema) ? draft7 : undefined;
}

function validate({ schema, value, isLoose = false }: SchemaJob): readonly SchemaFault[] {
  const result = compile(schema, isLoose);
  if ("faults" in result) return isLoose ? [] : result.faults;
  if (!value) return [];
  try {
    return result.validate(value.given) ? [] : faultsOf(result.validate.errors);
  } catch (error) {
    if (isLoose) return [];
    // A circular schema, or a value nested deeper than the stack.
    return [{ path: [], message: error instanceof RangeError ? "Nested too deeply to be checked" : messageOf(error) }];
  }
}

/** Ajv may report the same fault several times. */
function faultsOf(errors: ErrorObject[] | null | undefined): SchemaFault[] {
  const faults = new Map<string, SchemaFault>();
  for (const error of errors ?? []) {
    const message = requirementOf(error.keyword, error.params) ?? error.message ?? "is not allowed";
    faults.set(`${error.instancePath} ${message}`, { path: stepsOf(error.instancePath), message });
    if (faults.size === maxFaults) break;
  }
  return faults.size > 0 ? [...faults.values()] : [{ path: [], message: "Does not match the schema" }];
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

const send = (message: FromThread<readonly SchemaFault[]>) => parentPort?.postMessage(message);

parentPort?.on("message", (job: Numbered<SchemaJob>) => send({ id: job.id, result: validate(job) }));
// Warm up: the first use of a dialect compiles its meta-schema, which must not count for a job's deadline.
for (const { meta, blank } of [latest, draft7]) {
  meta.validateSchema({});
  blank(false).compile({});
}
send({ ready: true });
