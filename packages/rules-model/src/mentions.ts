import type { Tool } from "./conversation.ts";
import { isReadingWord, isWritingWord, nameWords, significantWords, type Word, wordsOf } from "./words.ts";

export interface Mention {
  tool: Tool;
  at: number;
  /** The part of the text about this tool, which is searched first for its arguments. */
  clause: string;
  /** Another tool fits the same words better. Used if that one cannot be called. */
  weak: boolean;
}

interface Hit {
  tool: Tool;
  at: number;
  /** The text has all words of the name. */
  whole: boolean;
  about: readonly string[];
}

const negation = /\b(?:not|never|without|don't|avoid|instead of)\s+(?:\S+\s+){0,2}$/i;

/** The tools that a text asks for, in order. */
export function mentionedTools(text: string, tools: readonly Tool[]): Mention[] {
  const words = wordsOf(text).filter(({ at }) => !negation.test(text.slice(Math.max(0, at - 60), at)));
  const hits = tools.flatMap((tool) => hitOf(text, words, tool) ?? []);
  // "Delete the user" is about users, but does not ask to read them.
  const isWeak = (hit: Hit) =>
    !hit.whole && hits.some((other) => other.whole && other.about.some((word) => hit.about.includes(word)));
  const strong = hits.filter((hit) => !isWeak(hit)).sort((a, b) => a.at - b.at);
  const weak = hits.filter(isWeak).map(({ tool, at }) => ({ tool, at, clause: text, weak: true }));
  return [
    ...strong.map(({ tool, at }, n) => ({
      tool,
      at,
      clause: text.slice(n === 0 ? 0 : at, strong[n + 1]?.at),
      weak: false,
    })),
    ...weak,
  ];
}

function hitOf(text: string, words: readonly Word[], tool: Tool): Hit | undefined {
  // In `server__tool` only the tool's name is compared.
  const own = nameWords(tool.name.slice(tool.name.lastIndexOf("__") + 1));
  const about = own.filter((word) => !isReadingWord(word) && !isWritingWord(word));
  const named = positionOfName(text, tool.name);
  if (named !== undefined) return { tool, at: named, whole: true, about };
  const first = new Map<string, number>();
  for (const { stem, at } of words) if (!first.has(stem)) first.set(stem, at);
  const positionOf = (list: readonly string[]) => Math.min(...list.map((word) => first.get(word) ?? text.length));
  const verbs = own.filter((word) => !about.includes(word) && first.has(word));
  // Verbs distinguish tools about the same thing.
  const at = positionOf(verbs.length > 0 ? verbs : own);
  const missing = own.filter((word) => !first.has(word));
  if (missing.length === 0) return { tool, at, whole: true, about };
  // The first word of a long name is often shared by a family of tools.
  const family = own.length > 2 ? own[0] : undefined;
  if (missing.length === 1 && missing[0] === family) return { tool, at, whole: true, about };
  if (own.some(isWritingWord)) return undefined;
  if (
    about.length > 0 &&
    missing.every((word) => word === family || isReadingWord(word)) &&
    missing.length < own.length
  )
    return { tool, at, whole: false, about };
  const described = [...significantWords(tool.description)].filter((word) => !own.includes(word));
  const shared = described.filter((word) => first.has(word));
  const byName = own.length - missing.length;
  const half = byName > 0 && byName * 2 >= own.length && shared.length > 0;
  const byText = shared.length > 1 && shared.length * 2 >= described.length;
  if (!half && !byText) return undefined;
  return { tool, at: positionOf(half ? own : shared), whole: false, about };
}

function positionOfName(text: string, name: string): number | undefined {
  if (name.length < 3) return undefined;
  const lower = text.toLowerCase();
  const sought = name.toLowerCase();
  for (let at = lower.indexOf(sought); at >= 0; at = lower.indexOf(sought, at + 1)) {
    const around = `${lower[at - 1] ?? " "}${lower[at + sought.length] ?? " "}`;
    const isWhole = !/[\p{L}\p{N}_]/u.test(around);
    if (isWhole && !negation.test(text.slice(Math.max(0, at - 60), at))) return at;
  }
  return undefined;
}
