import { darken, lighten } from "./colour.ts";
import type { Mood, Subject, Time, Weather } from "./lexicon.ts";
import * as lexicon from "./lexicon.ts";

/** A subject of the prompt. */
export interface Mention {
  subject: Subject;
  count: number;
  /** In the order of the prompt. If empty, the painter chooses. */
  colours: string[];
  scale: number;
  /** 0 is left, 1 is right. */
  side?: number;
}

export interface Reading {
  mentions: Mention[];
  weather: Weather[];
  time?: Time;
  moods: Mood[];
  /** Colours without a subject tint the whole picture. */
  colours: string[];
  /** Named colours of the sky ("a green sky"). */
  sky: string[];
}

const mostMentions = 14;
/** A prompt may be a megabyte long; further words are ignored. */
const mostWords = 2000;

const subjectOf = index(Object.entries(lexicon.subjects).map(([key, { words }]) => [key as Subject, words] as const));
const weatherOf = index(Object.entries(lexicon.weathers) as [Weather, readonly string[]][]);
const timeOf = index(Object.entries(lexicon.times) as [Time, readonly string[]][]);
const moodOf = index(Object.entries(lexicon.moods) as [Mood, readonly string[]][]);

/**
 * Reads the prompt from left to right. Numbers, colours and sizes apply to the next subject. A comma, a verb or a
 * preposition drops them, so "three red drones over a blue sea" has neither red water nor three seas.
 */
export function readPrompt(prompt: string): Reading {
  const words = wordsOf(prompt);
  const reading: Reading = { mentions: [], weather: [], moods: [], colours: [], sky: [] };
  let pending = { count: undefined as number | undefined, colours: [] as string[], scale: 1, none: false, back: false };
  const letGo = () => {
    reading.colours.push(...pending.colours);
    pending = { count: undefined, colours: [], scale: 1, none: false, back: false };
  };

  for (const [at, word] of words.entries()) {
    const known = lookUp(word);
    const number = /^\d{1,4}$/.test(word) ? Number(word) : lexicon.numbers[word];
    const colour = lexicon.colours[word];
    if (lexicon.negations.has(word)) {
      letGo();
      pending.none = true;
    } else if (known && !(colour && followedBySubject(words, at))) {
      if (!pending.none) addMention(reading, known, pending, sideAfter(words, at));
      pending = { ...pending, count: undefined, colours: [], scale: 1 };
    } else if (word === "sky" || word === "skies") {
      reading.sky.push(...pending.colours);
      pending.colours = [];
      letGo();
    } else if (colour) {
      if (!pending.none) pending.colours.push(shaded(colour, words[at - 1]));
    } else if (lexicon.shadings[word] !== undefined && lexicon.colours[words[at + 1] ?? ""]) {
      // "dark red" is a colour, not a night.
    } else if (number !== undefined) {
      // "a dozen" is twelve: the later number wins.
      pending.count = number;
    } else if (lexicon.magnitudes[word] !== undefined) {
      pending.scale = lexicon.magnitudes[word];
    } else if (["the", "their", "its", "these", "those", "his", "her"].includes(word)) {
      pending.back = true;
    } else if (!readAir(reading, word, pending.none) && (/^[,.;:]$/.test(word) || connectors.has(word))) {
      letGo();
    }
  }
  letGo();
  return reading;
}

const connectors = new Set(
  "in on at over under above below behind through across along beside between with by near into from towards toward against while as are is flying".split(
    " ",
  ),
);

function addMention(
  reading: Reading,
  known: { subject: Subject; plural: boolean },
  pending: { count: number | undefined; colours: string[]; scale: number; back: boolean },
  side: number | undefined,
): void {
  const row = lexicon.subjects[known.subject];
  const again = reading.mentions.find(({ subject }) => subject === known.subject);
  // A backdrop occurs once; "the drones" later in the prompt are the same drones.
  if (again && (row.place === "backdrop" || (pending.back && pending.count === undefined))) {
    again.colours.push(...pending.colours);
    return;
  }
  if (reading.mentions.length >= mostMentions) return;
  const asked = pending.count ?? (known.plural ? row.many : 1);
  // "three cars" and "3 car" both mean three.
  const count =
    row.place === "backdrop" ? 1 : Math.min(row.most, Math.max(1, known.plural && asked === 1 ? row.many : asked));
  reading.mentions.push({
    subject: known.subject,
    count,
    colours: [...pending.colours],
    scale: pending.scale,
    ...(side !== undefined && { side }),
  });
}

function readAir(reading: Reading, word: string, none: boolean): boolean {
  const weather = weatherOf.get(word);
  const time = timeOf.get(word);
  const mood = moodOf.get(word);
  if (weather && !none && !reading.weather.includes(weather)) reading.weather.push(weather);
  if (mood && !none && !reading.moods.includes(mood)) reading.moods.push(mood);
  if (time && !none) reading.time ??= time;
  return Boolean(weather ?? time ?? mood);
}

function shaded(colour: string, before: string | undefined): string {
  const amount = lexicon.shadings[before ?? ""] ?? 0;
  if (amount === 0) return colour;
  return amount < 0 ? darken(colour, -amount) : lighten(colour, amount);
}

/** For "on the left" or "in the middle" right after the subject. */
function sideAfter(words: readonly string[], at: number): number | undefined {
  const [first, ...rest] = words.slice(at + 1, at + 5);
  if (first === undefined || !["on", "to", "in", "at"].includes(first)) return undefined;
  const found = rest.find((word) => lexicon.sides[word] !== undefined || lookUp(word));
  return found === undefined ? undefined : lexicon.sides[found];
}

/** "rose", "gold" and "lavender" are colours before a subject, flowers elsewhere. */
function followedBySubject(words: readonly string[], at: number): boolean {
  const next = words[at + 1];
  return next !== undefined && (next === "sky" || lookUp(next) !== undefined || lexicon.colours[next] !== undefined);
}

function lookUp(word: string): { subject: Subject; plural: boolean } | undefined {
  const exact = subjectOf.get(word);
  if (exact) return { subject: exact, plural: word === "people" };
  const singular = [
    lexicon.irregular[word],
    word.replace(/ies$/, "y"),
    word.replace(/es$/, ""),
    word.replace(/s$/, ""),
  ];
  for (const form of singular) {
    const subject = form !== undefined && form !== word && subjectOf.get(form);
    if (subject) return { subject, plural: true };
  }
  return undefined;
}

function wordsOf(prompt: string): string[] {
  const plain = prompt
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .slice(0, mostWords * 12);
  let words: string[] = (plain.match(/\p{L}+(?:['’]\p{L}+)?|\d+|[,.;:]/gu) ?? []).slice(0, mostWords);
  for (const length of [3, 2]) {
    const joined: string[] = [];
    for (let at = 0; at < words.length; at++) {
      const phrase = lexicon.phrases[words.slice(at, at + length).join(" ")];
      joined.push(phrase ?? words[at] ?? "");
      if (phrase !== undefined) at += length - 1;
    }
    words = joined;
  }
  return words;
}

function index<K>(entries: readonly (readonly [K, readonly string[]])[]): ReadonlyMap<string, K> {
  return new Map(entries.flatMap(([key, words]) => words.map((word) => [word, key] as const)));
}
