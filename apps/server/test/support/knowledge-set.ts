import { synonyms } from "./meaning-embeddings.ts";

export interface KnownDocument {
  path: string;
  text: string;
}

export interface KnownQuestion {
  kind: "name" | "number" | "paraphrase" | "both";
  text: string;
  /** The path of the answer. */
  answer: string;
}

/** A pseudorandom sequence from 0 to 1, the same in each run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const syllables = "bar cel dun fer gol hap jin kor lam mis nor pel ras sim tov ulm ven wex yar zol".split(" ");
const fillers =
  "the report was filed after a visit and the shift leader signed it in the usual form for later review".split(" ");

/**
 * Reports on machines and what happens to them, each with an author and a number, and questions with known answers. A
 * report has the first word of a meaning, a paraphrase the second: no common word. Names and numbers are almost invisible
 * to the vectors.
 */
export function knowledgeSet(): { documents: KnownDocument[]; questions: KnownQuestion[] } {
  const next = numbersFrom(15);
  const below = (most: number) => Math.floor(next() * most);
  const name = () => {
    const part = () => syllables[below(20)] ?? "";
    const [first, last] = [part() + part(), part() + part() + part()];
    return `${first[0]?.toUpperCase()}${first.slice(1)} ${last[0]?.toUpperCase()}${last.slice(1)}`;
  };
  const things = synonyms.slice(0, 20);
  const events = synonyms.slice(20);
  const documents: KnownDocument[] = [];
  const questions: KnownQuestion[] = [];
  for (const [t, thing] of things.entries()) {
    for (const [e, event] of events.entries()) {
      const at = t * events.length + e;
      const author = name();
      const number = `RX-${1000 + below(9000)}-${10 + below(90)}`;
      const answer = `/reports/${at}.md`;
      const filler = Array.from({ length: 10 + below(20) }, () => fillers[below(fillers.length)]).join(" ");
      documents.push({
        path: answer,
        text: `Report ${number} by ${author}. The ${thing[0]} ${event[0]} in hall ${1 + below(9)}. ${filler}.`,
      });
      const paraphrase = `why is it that our ${thing[1]} ${event[1]}`;
      if (at % 16 === 0) questions.push({ kind: "name", text: `what did ${author} write`, answer });
      if (at % 16 === 4) questions.push({ kind: "number", text: number, answer });
      if (at % 16 === 8) questions.push({ kind: "paraphrase", text: paraphrase, answer });
      if (at % 16 === 12) questions.push({ kind: "both", text: `${paraphrase}, says ${author.split(" ")[1]}`, answer });
    }
  }
  return { documents, questions };
}
