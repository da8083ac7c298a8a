import type { Tool } from "./conversation.ts";
import { findNamed } from "./find-value.ts";
import { type Literals, literalsOf } from "./literals.ts";
import { asType, choicesOf, minimalValue, type Schema, schemaOf, typeOf } from "./schema-values.ts";
import type { Situation } from "./situation.ts";
import { nameWords, wordsOf } from "./words.ts";

interface Passage {
  text: string;
  literals: Literals;
}

interface Filling {
  situation: Situation;
  /** The clause about this tool, then the whole text. */
  passages: readonly Passage[];
  /** The words of the tool's name. */
  about: readonly string[];
  /** Values that are already assigned to a parameter. */
  used: Set<unknown>;
}

/**
 * Every set of arguments for a tool. More than one if the text names several values for its only open parameter
 * (`fetch <url> and <url>`), none if a required parameter cannot be filled.
 */
export function argumentSets(tool: Tool, situation: Situation, clause: string): Record<string, unknown>[] {
  const passages = [{ text: clause, literals: literalsOf(clause) }, situation];
  const sets: Record<string, unknown>[] = [];
  const taken: unknown[] = [];
  while (sets.length < 10) {
    const next = fill(tool, situation, passages, new Set(taken));
    if (!next || (sets.length > 0 && next.repeatable === undefined)) break;
    sets.push(next.given);
    if (next.repeatable === undefined) break;
    taken.push(next.given[next.repeatable]);
  }
  return sets;
}

/** For a required call: parameters that cannot be filled get minimal values. */
export function forcedArguments(tool: Tool, situation: Situation): Record<string, unknown> {
  const { properties, required } = parametersOf(tool.parameters);
  const filling: Filling = { situation, passages: [situation], about: nameWords(tool.name), used: new Set() };
  return Object.fromEntries(
    required.map((name) => {
      const schema = schemaOf(properties[name]);
      return [name, valueFor(name, schema, filling)?.value ?? minimalValue(schema)];
    }),
  );
}

function fill(tool: Tool, situation: Situation, passages: readonly Passage[], used: Set<unknown>) {
  const { properties, required } = parametersOf(tool.parameters);
  const filling: Filling = { situation, passages, about: nameWords(tool.name), used };
  const given: Record<string, unknown> = {};
  const literals: string[] = [];
  for (const name of required) {
    const found = valueFor(name, schemaOf(properties[name]), filling);
    if (!found) return undefined;
    given[name] = found.value;
    if (found.literal) literals.push(name);
  }
  for (const name of Object.keys(properties)) {
    if (required.includes(name)) continue;
    const schema = schemaOf(properties[name]);
    const value = namedValue(name, schema, situation, passages[0]) ?? chosenInText(schema, passages[0]?.text ?? "");
    if (value !== undefined) given[name] = value;
  }
  // Several addresses mean several calls. Several numbers or quotes usually do not.
  const [only, ...others] = literals;
  const repeatable = only !== undefined && others.length === 0 && isAddress(given[only]) ? only : undefined;
  return { given, repeatable };
}

function isAddress(value: unknown): boolean {
  return typeof value === "string" && /^(?:https?:\/\/\S+|\/\S+|[^\s@]+@[^\s@]+)$/.test(value);
}

export function parametersOf(schema: Schema): { properties: Schema; required: string[] } {
  const properties = schemaOf(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return { properties, required };
}

/** A value with this name in the text, the input or a result. */
function namedValue(name: string, schema: Schema, situation: Situation, passage: Passage | undefined): unknown {
  const fits = (value: unknown) => value !== null && asType(value, schema) !== undefined;
  const stated = statedInText(name, passage?.text ?? "");
  if (stated !== undefined && fits(stated)) return asType(stated, schema);
  const found = findNamed(situation.inputs, name, fits) ?? findNamed(situation.results, name, fits);
  return found === undefined ? undefined : asType(found, schema);
}

/** `name: value`, `name = value`, `name "value"`, `name is value`. */
function statedInText(name: string, text: string): string | undefined {
  const spelled = nameWordsAsWritten(name).join("[\\s_-]*");
  if (spelled === "") return undefined;
  const value = `(?:"([^"\\n]+)"|'([^'\\n]+)'|\`([^\`\\n]+)\`|([^\\s,;]+))`;
  const quotedOrMarked = new RegExp(
    `\\b${spelled}\\b\\s*(?:[:=]\\s*|\\s(?:is|of|to|set to|named|called)\\s+(?=["'\`\\d])|\\s(?=["'\`]))${value}`,
    "i",
  );
  const found =
    quotedOrMarked.exec(text) ?? new RegExp(`\\bwith (?:the |a |an )?${spelled}\\s+${value}`, "i").exec(text);
  const stated = found?.slice(1).find((one) => one !== undefined);
  return found?.[4] === undefined ? stated : stated?.replace(/[.!?]+$/, "");
}

function nameWordsAsWritten(name: string): string[] {
  const parts = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").split(/[^\p{L}\p{N}]+/u);
  return parts.filter((part) => part !== "");
}

function valueFor(name: string, schema: Schema, filling: Filling): { value: unknown; literal: boolean } | undefined {
  const { situation, used } = filling;
  for (const [n, passage] of filling.passages.entries()) {
    const named = namedValue(name, schema, situation, passage) ?? chosenInText(schema, passage.text);
    if (named !== undefined) return { value: named, literal: false };
    const about = [...nameWords(name), ...filling.about];
    const kinds = literalCandidates(name, schema, passage.literals);
    for (const candidate of kinds.flatMap((kind) => nearestFirst(kind, about, passage.text))) {
      const value = used.has(candidate) ? undefined : asType(candidate, schema);
      if (value === undefined) continue;
      used.add(candidate);
      return { value, literal: n === 0 };
    }
  }
  const rest = schema.default ?? guess(name, schema, filling);
  return rest === undefined ? undefined : { value: rest, literal: false };
}

function chosenInText(schema: Schema, text: string): unknown {
  const lower = ` ${text.toLowerCase().replace(/[^\p{L}\p{N}_-]+/gu, " ")} `;
  return choicesOf(schema)?.find((choice) => lower.includes(` ${String(choice).toLowerCase()} `));
}

/** Literals for a parameter of this name and type, the most likely first. */
function literalCandidates(name: string, schema: Schema, literals: Literals): readonly (readonly unknown[])[] {
  const words = nameWords(name);
  const is = (...kinds: string[]) => kinds.some((kind) => words.includes(kind));
  const type = typeOf(schema);
  if (type === "integer" || type === "number") return [literals.numbers];
  if (type !== "string") return [];
  if (is("http", "uri", "link", "webhook", "endpoint") || schema.format === "uri") return [literals.urls];
  if (is("email", "send") || schema.format === "email") return [literals.emails];
  if (is("date", "day", "time", "since", "until") || String(schema.format).startsWith("date")) return [literals.dates];
  if (is("path", "file", "filename", "directory", "folder")) return [literals.paths, literals.quoted];
  if (is("code", "script", "expression", "sql")) return [literals.code, literals.quoted];
  if (is("id", "identifier", "key", "slug", "model")) return [literals.ids, literals.quoted, literals.code];
  return [literals.quoted, literals.code];
}

/** Prefers values right after a word of the tool or the parameter: `user usr_1 and order ord_2`. */
function nearestFirst(candidates: readonly unknown[], about: readonly string[], text: string): readonly unknown[] {
  if (candidates.length < 2) return candidates;
  const isNear = (candidate: unknown) => {
    const at = text.indexOf(String(candidate));
    const before = at < 0 ? [] : wordsOf(text.slice(Math.max(0, at - 24), at)).slice(-2);
    return before.some(({ stem }) => about.includes(stem));
  };
  return [...candidates.filter(isNear), ...candidates.filter((candidate) => !isNear(candidate))];
}

const textual = new Set(["search", "q", "text", "prompt", "message", "question", "input", "content", "body", "data"]);

function guess(name: string, schema: Schema, filling: Filling): unknown {
  const { situation } = filling;
  const type = typeOf(schema);
  if (type === "object") return objectFrom(name, schema, filling);
  if (type !== "string") return undefined;
  if (name.toLowerCase() === "method") {
    return /\b(POST|PUT|PATCH|DELETE|HEAD)\b/.exec(situation.text)?.[1] ?? "GET";
  }
  const words = nameWords(name);
  if (words.includes("code")) return undefined;
  if (!words.some((word) => textual.has(word))) return undefined;
  const latest = situation.outcomes.findLast((outcome) => !outcome.failed);
  if (latest && !words.includes("search")) return asType(latest.content.slice(0, 20_000), schema);
  const about = /\b(?:for|about|on)\s+([^.!?\n]{2,200})/i.exec(situation.text)?.[1];
  return asType((about ?? situation.lastPrompt).trim().slice(0, 2000), schema);
}

/** Fills an object by its properties. An `input` without properties gets the text as its prompt. */
function objectFrom(name: string, schema: Schema, filling: Filling): unknown {
  const { situation, used } = filling;
  const { properties, required } = parametersOf(schema);
  if (Object.keys(properties).length === 0) {
    const prompt = situation.literals.quoted.find((text) => !used.has(text)) ?? situation.lastPrompt;
    return name === "input" && prompt !== "" ? { prompt } : undefined;
  }
  const filled: Record<string, unknown> = {};
  for (const inner of required) {
    const found = valueFor(inner, schemaOf(properties[inner]), filling);
    if (!found) return undefined;
    filled[inner] = found.value;
  }
  return filled;
}
