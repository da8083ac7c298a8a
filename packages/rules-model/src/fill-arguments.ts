import type { Tool } from "./conversation.ts";
import { findNamed } from "./find-value.ts";
import { type Literals, literalsOf } from "./literals.ts";
import { asType, choicesOf, minimalValue, type Schema, schemaOf, typeOf } from "./schema-values.ts";
import type { Situation } from "./situation.ts";
import { nameWords, wordsOf } from "./words.ts";

interface Place {
  text: string;
  literals: Literals;
}

/** One filling of a tool's parameters. */
interface Filling {
  situation: Situation;
  /** Where the text is searched: first what speaks of this tool, then the whole. */
  places: readonly Place[];
  /** The words of the tool's name. */
  about: readonly string[];
  /** Values of the text that have found their parameter: one value is not given to two. */
  used: Set<unknown>;
}

/**
 * Every set of arguments that the situation offers for a tool: more than one where the text names several values for
 * its only open parameter (`fetch <url> and <url>`), none where a required one cannot be filled.
 */
export function argumentSets(tool: Tool, situation: Situation, clause: string): Record<string, unknown>[] {
  const places = [{ text: clause, literals: literalsOf(clause) }, situation];
  const sets: Record<string, unknown>[] = [];
  const taken: unknown[] = [];
  while (sets.length < 10) {
    const next = fill(tool, situation, places, new Set(taken));
    if (!next || (sets.length > 0 && next.repeatable === undefined)) break;
    sets.push(next.given);
    if (next.repeatable === undefined) break;
    taken.push(next.given[next.repeatable]);
  }
  return sets;
}

/** Whatever can be filled, and the smallest value for what cannot: for a call that must be made. */
export function forcedArguments(tool: Tool, situation: Situation): Record<string, unknown> {
  const { properties, required } = parametersOf(tool.parameters);
  const filling: Filling = { situation, places: [situation], about: nameWords(tool.name), used: new Set() };
  return Object.fromEntries(
    required.map((name) => {
      const schema = schemaOf(properties[name]);
      return [name, valueFor(name, schema, filling)?.value ?? minimalValue(schema)];
    }),
  );
}

function fill(tool: Tool, situation: Situation, places: readonly Place[], used: Set<unknown>) {
  const { properties, required } = parametersOf(tool.parameters);
  const filling: Filling = { situation, places, about: nameWords(tool.name), used };
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
    const value = namedValue(name, schema, situation, places[0]) ?? chosenInText(schema, places[0]?.text ?? "");
    if (value !== undefined) given[name] = value;
  }
  // Several addresses mean several calls; several numbers or quotes mostly mean something else.
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

/** What the text, the input or a result calls by this name. */
function namedValue(name: string, schema: Schema, situation: Situation, place: Place | undefined): unknown {
  const fits = (value: unknown) => value !== null && asType(value, schema) !== undefined;
  const told = toldInText(name, place?.text ?? "");
  if (told !== undefined && fits(told)) return asType(told, schema);
  const found = findNamed(situation.inputs, name, fits) ?? findNamed(situation.results, name, fits);
  return found === undefined ? undefined : asType(found, schema);
}

/** `name: value`, `name = value`, `name "value"`, `name is value`. */
function toldInText(name: string, text: string): string | undefined {
  const spelled = nameWordsAsWritten(name).join("[\\s_-]*");
  if (spelled === "") return undefined;
  const value = `(?:"([^"\\n]+)"|'([^'\\n]+)'|\`([^\`\\n]+)\`|([^\\s,;]+))`;
  const quotedOrMarked = new RegExp(
    `\\b${spelled}\\b\\s*(?:[:=]\\s*|\\s(?:is|of|to|set to|named|called)\\s+(?=["'\`\\d])|\\s(?=["'\`]))${value}`,
    "i",
  );
  const found =
    quotedOrMarked.exec(text) ?? new RegExp(`\\bwith (?:the |a |an )?${spelled}\\s+${value}`, "i").exec(text);
  const told = found?.slice(1).find((one) => one !== undefined);
  return found?.[4] === undefined ? told : told?.replace(/[.!?]+$/, "");
}

function nameWordsAsWritten(name: string): string[] {
  const parts = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").split(/[^\p{L}\p{N}]+/u);
  return parts.filter((part) => part !== "");
}

function valueFor(name: string, schema: Schema, filling: Filling): { value: unknown; literal: boolean } | undefined {
  const { situation, used } = filling;
  for (const [n, place] of filling.places.entries()) {
    const named = namedValue(name, schema, situation, place) ?? chosenInText(schema, place.text);
    if (named !== undefined) return { value: named, literal: false };
    const about = [...nameWords(name), ...filling.about];
    const kinds = literalCandidates(name, schema, place.literals);
    for (const candidate of kinds.flatMap((kind) => nearestFirst(kind, about, place.text))) {
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

/** What the text offers for a parameter of this name and type, the likeliest first. */
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

/** Values with a word of the tool or the parameter right before them go first: `user usr_1 and order ord_2`. */
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

/** An object is filled by its own properties; a free one, if it is the input of something, with the text itself. */
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
