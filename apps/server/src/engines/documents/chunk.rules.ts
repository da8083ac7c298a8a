import type { Chunk, DocumentFormat, ReadDocument } from "./documents.ts";

/** A chunk ends at the first paragraph after this many characters. */
const goodChars = 900;
const mostChars = 1_500;
/** Text at the end of a chunk that the next one repeats, so that a sentence is whole in one of them. */
const overlapChars = 150;
const mostHeadingChars = 300;
export const mostChunksOfFile = 5_000;

/** Formats whose text has the headings of Markdown. */
const withHeadings: ReadonlySet<DocumentFormat> = new Set(["markdown", "html", "docx"]);
/** HTML and Word are converted, so their lines mean nothing to the reader of the file. */
const withLines: ReadonlySet<DocumentFormat> = new Set(["text", "markdown", "pdf"]);

interface Section {
  heading: string | null;
}

/** A line, or a part of a long one. */
interface Piece {
  text: string;
  line: number;
  startsParagraph: boolean;
  section: Section;
}

/** Line by line, and no further than the last chunk needs. */
export function chunksOf({ format, pages }: Pick<ReadDocument, "format" | "pages">): {
  chunks: Chunk[];
  isCut: boolean;
} {
  const chunks: Chunk[] = [];
  for (const { page, text } of pages) {
    for (const group of grouped(piecesOf(text, withHeadings.has(format)))) {
      const [first, last] = [group[0], group.at(-1)];
      if (!first || !last) continue;
      if (chunks.length === mostChunksOfFile) return { chunks, isCut: true };
      const hasLines = withLines.has(format);
      chunks.push({
        page: page ?? null,
        lineFrom: hasLines ? first.line : null,
        lineTo: hasLines ? last.line : null,
        heading: first.section.heading,
        text: textOf(group),
      });
    }
  }
  return { chunks, isCut: false };
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0, end = 0; end !== -1; from = end + 1) {
    end = text.indexOf("\n", from);
    yield text.slice(from, end === -1 ? undefined : end);
  }
}

function* piecesOf(text: string, hasHeadings: boolean): Generator<Piece> {
  const above: string[] = [];
  let section: Section = { heading: null };
  let startsParagraph = true;
  let isCode = false;
  let number = 0;
  for (const line of linesOf(text)) {
    number++;
    if (hasHeadings && /^\s{0,3}(?:```|~~~)/.test(line)) isCode = !isCode;
    const heading = hasHeadings && !isCode ? headingOf(line) : undefined;
    if (heading) {
      above.splice(heading.level - 1);
      above[heading.level - 1] = heading.title;
      section = { heading: pathOf(above) };
      startsParagraph = true;
    }
    if (line.trim() === "") startsParagraph = true;
    else {
      for (const part of partsOf(line)) {
        yield { text: part, line: number, startsParagraph, section };
        startsParagraph = false;
      }
    }
  }
}

/** Without a pattern for the title: on a line of many spaces it would take hours. */
function headingOf(line: string): { level: number; title: string } | undefined {
  const [start, marks] = /^ {0,3}(#{1,6})[ \t]/.exec(line) ?? [];
  if (start === undefined || marks === undefined) return undefined;
  const title = line.slice(start.length).trim();
  let end = title.length;
  while (title[end - 1] === "#") end--;
  const shown = title.slice(0, end).trimEnd();
  return shown === "" ? undefined : { level: marks.length, title: shown };
}

/** Levels may be missing. */
function pathOf(above: readonly (string | undefined)[]): string {
  return cutAt(above.filter(Boolean).join(" › "), mostHeadingChars);
}

/** Divides a long line at spaces, or anywhere if it has no spaces. */
function* partsOf(line: string): Generator<string> {
  let rest = line.trimEnd();
  while (rest.length > goodChars) {
    const head = cutAt(rest, goodChars);
    const sentence = head.search(/[.!?。！？]\s?[^.!?。！？]*$/);
    const space = head.lastIndexOf(" ");
    const end = sentence > goodChars / 2 ? sentence + 1 : space > goodChars / 2 ? space : head.length;
    yield rest.slice(0, end);
    rest = rest.slice(end).trimStart();
  }
  if (rest !== "") yield rest;
}

/** Whole characters only. */
function cutAt(text: string, length: number): string {
  const cut = text.slice(0, length);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

function* grouped(pieces: Iterable<Piece>): Generator<Piece[]> {
  let group: Piece[] = [];
  let size = 0;
  for (const piece of pieces) {
    const isSameSection = group[0]?.section === piece.section;
    const isFull = size + piece.text.length > mostChars || (size >= goodChars && piece.startsParagraph);
    if (group.length > 0 && (isFull || !isSameSection)) {
      yield group;
      group = isSameSection ? overlapOf(group) : [];
      size = textOf(group).length;
    }
    group.push(piece);
    size += piece.text.length + 1;
  }
  if (group.length > 0) yield group;
}

function overlapOf(group: readonly Piece[]): Piece[] {
  const last = group.at(-1);
  if (!last) return [];
  const tail = last.text.slice(-overlapChars);
  const text = tail.length === last.text.length ? tail : tail.slice(tail.search(/\s/) + 1);
  const whole = text.isWellFormed() ? text : text.slice(1);
  return whole.trim() === "" ? [] : [{ ...last, text: whole }];
}

function textOf(group: readonly Piece[]): string {
  return group
    .map(({ text, startsParagraph }, n) => (n === 0 ? text : `${startsParagraph ? "\n\n" : "\n"}${text}`))
    .join("");
}
