import { calculationIn, numberText, plainNumber } from "./arithmetic.ts";
import { dateAnswer } from "./dates.ts";
import { jsonIn, literalsOf } from "./literals.ts";
import { longestRead, sentencesOf, significantWords } from "./words.ts";

export interface TextAnswer {
  text: string;
  /** The bare result, for an answer that must fit a schema. */
  value?: unknown;
}

type Rule = (prompt: string) => TextAnswer | undefined;

const abilities =
  "calculate, work with dates that you give, summarise, list or count text, extract facts as JSON, and call " +
  "the tools of an agent";

/** The text that a task is about: after a colon or a line break, or in quotes. */
function materialOf(prompt: string): string {
  const separated = /^[^\n:]{1,200}:\s+([\s\S]+)$/.exec(prompt) ?? /^[^\n]{1,300}\n+([\s\S]+)$/.exec(prompt);
  const quoted = /["“]([^"”]+)["”]/.exec(prompt);
  return (separated?.[1] ?? quoted?.[1] ?? "").trim();
}

const greet: Rule = (prompt) =>
  /^(hi|hello|hey|good (morning|afternoon|evening|day)|greetings)\b/i.test(prompt) && prompt.length < 60
    ? { text: "Hello! I am gantry/rules, a rule-based planner. What can I do for you?" }
    : undefined;

const introduce: Rule = (prompt) =>
  /\b(who|what) are you\b|\bwhat can you do\b|^help\b|\bare you (a|an) (ai|llm|language model|human|bot)\b/i.test(
    prompt,
  )
    ? { text: `I am gantry/rules, a rule-based planner, not a language model. I can ${abilities}.` }
    : undefined;

const welcome: Rule = (prompt) =>
  /^(thanks|thank you|thx)\b/i.test(prompt) && prompt.length < 60 ? { text: "You are welcome." } : undefined;

const echo: Rule = (prompt) => {
  const asked =
    /^(?:please\s+)?(?:say|repeat|echo|print|write|output|reply with|answer with)\b(?: (?:exactly|only|just|after me|this|the words?|back))*\s*:?\s*([\s\S]+)$/i.exec(
      prompt,
    );
  const words = asked?.[1]?.trim().replace(/^["“']([\s\S]*)["”']\.?$/, "$1");
  // "Write a poem" asks for a writer, not for an echo.
  if (!words || /^(a|an|the|me|about|some|my|your|two|three|\d+)\b/i.test(words)) return undefined;
  return { text: words, value: words };
};

const translate: Rule = (prompt) =>
  /\btranslat(e|ion)\b/i.test(prompt)
    ? { text: "I cannot translate: I am a rule-based planner, not a language model. Choose a language model for this." }
    : undefined;

const summarise: Rule = (prompt) => {
  if (!/\b(summari[sz]e|summary|tl;?dr|shorten)\b/i.test(prompt)) return undefined;
  const sentences = sentencesOf(materialOf(prompt));
  if (sentences.length === 0) return { text: "I need a text to summarise. Put it after a colon or a blank line." };
  const counts = new Map<string, number>();
  const words = sentences.map((sentence) => significantWords(sentence));
  for (const set of words) for (const word of set) counts.set(word, (counts.get(word) ?? 0) + 1);
  // Sentences that share the most words with others represent the text best. The first one introduces it.
  const weight = (n: number) =>
    [...(words[n] ?? [])].reduce((sum, word) => sum + (counts.get(word) ?? 0) - 1, 0) /
    Math.sqrt((words[n]?.size ?? 0) + 1);
  const best = sentences
    .map((_, n) => n)
    .slice(1)
    .sort((a, b) => weight(b) - weight(a) || a - b);
  const kept = [0, ...best.slice(0, Math.min(2, Math.floor(sentences.length / 3)))].sort((a, b) => a - b);
  const text = kept.map((n) => sentences[n]).join(" ");
  return { text, value: text };
};

/** `name: value` and `name = value`, separated by line breaks or commas. */
export function namedFacts(text: string): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const part of text.slice(0, longestRead).split(/[\n;]|,\s/)) {
    const found = /^\W*([\p{L}][\p{L}\p{N} _-]{0,40}?)\s*(?::|=|\bis\b)\s*(\S.{0,300})$/u.exec(part.trim());
    if (found?.[1] && found[2] && !found[2].startsWith("//"))
      facts[found[1].trim()] = found[2].trim().replace(/\.$/, "");
  }
  return facts;
}

const extract: Rule = (prompt) => {
  if (!/\b(extract|as json|in json|to json|key facts|pull out|parse)\b/i.test(prompt)) return undefined;
  const material = materialOf(prompt) || prompt;
  const { values } = jsonIn(material);
  const { emails, urls, dates, numbers } = literalsOf(material);
  const kinds = { emails, urls, dates, numbers };
  const found = Object.fromEntries(Object.entries(kinds).filter(([, list]) => list.length > 0));
  const asked = Object.entries(found).filter(([kind]) =>
    new RegExp(`\\b${kind.slice(0, -1)}`, "i").test(prompt.slice(0, 200)),
  );
  const facts = asked.length > 0 ? Object.fromEntries(asked) : { ...namedFacts(material), ...found };
  const value = values.length === 1 && asked.length === 0 ? values[0] : facts;
  return { text: JSON.stringify(value), value };
};

const measure: Rule = (prompt) => {
  const asked = /\b(?:how many|count(?: the)?(?: number of)?)\s+(words|characters|letters|sentences|lines)\b/i.exec(
    prompt,
  );
  const unit = asked?.[1]?.toLowerCase();
  const material = materialOf(prompt);
  if (!unit || material === "") return undefined;
  const counts: Record<string, number> = {
    words: material.split(/\s+/).length,
    characters: [...material].length,
    letters: (material.match(/\p{L}/gu) ?? []).length,
    sentences: sentencesOf(material).length,
    lines: material.split("\n").length,
  };
  return { text: `The text has ${counts[unit]} ${unit}.`, value: counts[unit] };
};

const transform: Rule = (prompt) => {
  const material = materialOf(prompt);
  if (material === "") return undefined;
  const head = prompt.slice(0, 120);
  const transforms: readonly (readonly [RegExp, (text: string) => string])[] = [
    [/\b(upper ?case|capitals)\b/i, (text) => text.toUpperCase()],
    [/\blower ?case\b/i, (text) => text.toLowerCase()],
    [/\breverse\b/i, (text) => [...text].reverse().join("")],
    [
      /\bsort\b/i,
      (text) =>
        items(text)
          .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
          .join("\n"),
    ],
    [
      /\b(list|bullets?|enumerate|itemi[sz]e)\b/i,
      (text) =>
        items(text)
          .map((item) => `- ${item}`)
          .join("\n"),
    ],
  ];
  const found = transforms.find(([pattern]) => pattern.test(head));
  const text = found?.[1](material);
  return text === undefined ? undefined : { text, value: text };
};

function items(text: string): string[] {
  const lines = text.includes("\n")
    ? text.split("\n")
    : text.replace(/\.$/, "").split(/,\s*(?:and\s+)?|;\s*|\s+and\s+/);
  return lines.map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)])\s*/, "").trim()).filter((line) => line !== "");
}

const calculateDates: Rule = (prompt) => {
  if (
    /\b(today|now|current (date|time|day))\b/i.test(prompt) &&
    /\b(what|which|tell)\b/i.test(prompt) &&
    !/\d{4}-\d{2}/.test(prompt)
  ) {
    return { text: "I have no clock. Give me the date and I can calculate with it." };
  }
  return dateAnswer(prompt, literalsOf(prompt).dates);
};

const calculate: Rule = (prompt) => {
  const found = calculationIn(prompt);
  if (!found) return undefined;
  const value = plainNumber(found.result);
  return { text: `${found.expression} = ${numberText(found.result)}`, ...(Number.isFinite(value) && { value }) };
};

/** Finds the sentence that shares the most words with the question. */
const lookUp: Rule = (prompt) => {
  const question = sentencesOf(prompt).findLast((sentence) => sentence.endsWith("?"));
  if (!question) return undefined;
  const asked = significantWords(question.replace(/^question:\s*/i, ""));
  const scored = sentencesOf(prompt)
    .filter((sentence) => !sentence.endsWith("?"))
    .map((sentence) => ({
      sentence: sentence.replace(/^(context|text):\s*/i, ""),
      shared: [...significantWords(sentence)].filter((word) => asked.has(word)).length,
    }))
    .sort((a, b) => b.shared - a.shared);
  const best = scored[0];
  if (!best || best.shared === 0 || best.shared < Math.min(2, asked.size)) return undefined;
  return { text: best.sentence, value: best.sentence };
};

const rules: readonly Rule[] = [
  ...[greet, introduce, welcome, translate, summarise, extract, measure, transform],
  ...[calculateDates, calculate, echo, lookUp],
];

/** Undefined if no rule fits. */
export function answerByRule(prompt: string): TextAnswer | undefined {
  const read = prompt.slice(0, longestRead).trim();
  for (const rule of rules) {
    const answer = rule(read);
    if (answer) return answer;
  }
  return undefined;
}

export const noRule = `I am a rule-based planner, not a language model, and none of my rules fits this request. I can ${abilities}.`;
