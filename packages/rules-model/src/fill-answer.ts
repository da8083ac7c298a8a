import { answerByRule } from "./answer-text.ts";
import { parametersOf } from "./fill-arguments.ts";
import { findNamed, type Source } from "./find-value.ts";
import { asType, choicesOf, minimalValue, type Schema, schemaOf, typeOf } from "./schema-values.ts";
import type { Situation } from "./situation.ts";
import { nameWords } from "./words.ts";

const deepest = 8;
const reporting = new Set([
  "summary",
  "text",
  "answer",
  "message",
  "result",
  "output",
  "report",
  "description",
  "reply",
]);
const counting = new Set(["count", "total", "number", "amount"]);

interface Known {
  situation: Situation;
  sources: readonly Source[];
  report: string;
  /** The bare result of a rule that fits the prompt. */
  value: unknown;
}

/** Fills the schema by name and type, from tool results first, then from the input. Otherwise uses minimal values. */
export function fillAnswer(schema: Schema, situation: Situation, report: string): unknown {
  const byRule = situation.outcomes.length === 0 ? answerByRule(situation.lastPrompt) : undefined;
  const sources = [...situation.results, ...situation.inputs];
  const known = { situation, sources, report: byRule?.text ?? report, value: byRule?.value };
  if (typeOf(schema) === "object") return objectOf(schema, known, 0);
  return single("answer", schema, known, 0);
}

function objectOf(schema: Schema, known: Known, depth: number): Record<string, unknown> {
  const { properties, required } = parametersOf(schema);
  const filled: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(properties)) {
    const value = fromKnown(name, schemaOf(inner), known, depth);
    if (value !== undefined) filled[name] = value;
    else if (required.includes(name)) filled[name] = smallest(schemaOf(inner), known, depth);
  }
  for (const name of required) if (!Object.hasOwn(filled, name)) filled[name] = known.report;
  return filled;
}

function single(name: string, schema: Schema, known: Known, depth: number): unknown {
  return fromKnown(name, schema, known, depth) ?? smallest(schema, known, depth);
}

function smallest(schema: Schema, known: Known, depth: number): unknown {
  return typeOf(schema) === "object" && depth < deepest ? objectOf(schema, known, depth + 1) : minimalValue(schema);
}

function fromKnown(name: string, schema: Schema, known: Known, depth: number): unknown {
  const type = typeOf(schema);
  const fits = (value: unknown) => value !== null && asType(value, schema) !== undefined;
  const named = findNamed(known.sources, name, fits);
  if (named !== undefined) return shaped(named, schema, known, depth);
  const ruled = asType(known.value, schema);
  if (known.value !== undefined && ruled !== undefined) return ruled;
  const words = nameWords(name);
  if (type === "array") return listFor(schema, known, depth);
  if ((type === "integer" || type === "number") && words.some((word) => counting.has(word))) return countOf(known);
  const choice = choicesOf(schema)?.find((one) => known.report.toLowerCase().includes(String(one).toLowerCase()));
  if (choice !== undefined) return choice;
  if (type === "boolean" && words.some((word) => ["success", "ok", "done", "complet", "completed"].includes(word))) {
    return known.situation.outcomes.every((outcome) => !outcome.failed);
  }
  if ((type === "string" || type === undefined) && words.some((word) => reporting.has(word))) {
    return asType(known.report, schema);
  }
  return undefined;
}

/** Fits a value to the schema: an object keeps named properties, a list its fitting items. */
function shaped(value: unknown, schema: Schema, known: Known, depth: number): unknown {
  if (depth >= deepest) return asType(value, schema);
  const type = typeOf(schema);
  if (type === "object" && Object.keys(schemaOf(schema.properties)).length > 0) {
    return objectOf(schema, { ...known, sources: [{ about: [], value }] }, depth + 1);
  }
  if (type === "array" && Array.isArray(value)) {
    const items = schemaOf(schema.items);
    const limit = typeof schema.maxItems === "number" ? schema.maxItems : 1000;
    return value
      .slice(0, limit)
      .map((item) => (typeOf(items) === "object" ? shaped(item, items, known, depth + 1) : asType(item, items)))
      .filter((item) => item !== undefined);
  }
  return asType(value, schema);
}

function listFor(schema: Schema, known: Known, depth: number): unknown {
  const list = firstList(known.sources.map((source) => source.value));
  return list === undefined ? undefined : shaped(list, schema, known, depth);
}

function countOf(known: Known): number | undefined {
  return firstList(known.sources.map((source) => source.value))?.length;
}

function firstList(values: readonly unknown[]): readonly unknown[] | undefined {
  for (const value of values) {
    if (Array.isArray(value)) return value;
    const inner = Object.values(schemaOf(value)).find(Array.isArray);
    if (inner) return inner;
  }
  return undefined;
}
