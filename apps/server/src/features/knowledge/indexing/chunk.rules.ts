import type { DocumentFormat, ReadDocument } from "../../../engines/documents/documents.ts";

export interface Chunk {
  page: number | null;
  /** From 1, on the page in a format with pages. Null where the text is not that of the file. */
  lineFrom: number | null;
  lineTo: number | null;
  /** The headings above the chunk, from the outermost. */
  heading: string | null;
  text: string;
}

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

/** A line, or a part of a long one. */
interface Piece {
  text: string;
  line: number;
  startsParagraph: boolean;
}

interface Section {
  heading: string | null;
  pieces: Piece[];
}

export function chunksOf({ format, pages }: Pick<ReadDocument, "format" | "pages">): {
  chunks: Chunk[];
  isCut: boolean;
} {
  const chunks: Chunk[] = [];
  for (const { page, text } of pages) {
    for (const { heading, pieces } of sectionsOf(text, withHeadings.has(format))) {
      for (const group of grouped(pieces)) {
        const [first, last] = [group[0], group.at(-1)];
        if (!first || !last) continue;
        if (chunks.length === mostChunksOfFile) return { chunks, isCut: true };
        const hasLines = withLines.has(format);
        chunks.push({
          page: page ?? null,
          lineFrom: hasLines ? first.line : null,
          lineTo: hasLines ? last.line : null,
          heading,
          text: textOf(group),
        });
      }
    }
  }
  return { chunks, isCut: false };
}

function sectionsOf(text: string, hasHeadings: boolean): Section[] {
  const above: string[] = [];
  let current: Section = { heading: null, pieces: [] };
  const sections = [current];
  let startsParagraph = true;
  let isCode = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (hasHeadings && /^\s{0,3}(?:```|~~~)/.test(line)) isCode = !isCode;
    const [, marks, title] = (hasHeadings && !isCode && /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line)) || [];
    if (marks && title) {
      above.splice(marks.length - 1);
      above[marks.length - 1] = title;
      current = { heading: pathOf(above), pieces: [] };
      sections.push(current);
      startsParagraph = true;
    }
    if (line.trim() === "") startsParagraph = true;
    else {
      for (const part of partsOf(line)) {
        current.pieces.push({ text: part, line: index + 1, startsParagraph });
        startsParagraph = false;
      }
    }
  }
  return sections;
}

/** Levels may be missing. */
function pathOf(above: readonly (string | undefined)[]): string {
  return cutAt(above.filter(Boolean).join(" › "), mostHeadingChars);
}

/** Divides a long line at spaces, or anywhere if it has no spaces. */
function partsOf(line: string): string[] {
  const parts: string[] = [];
  let rest = line.trimEnd();
  while (rest.length > goodChars) {
    const head = cutAt(rest, goodChars);
    const sentence = head.search(/[.!?。！？]\s?[^.!?。！？]*$/);
    const space = head.lastIndexOf(" ");
    const end = sentence > goodChars / 2 ? sentence + 1 : space > goodChars / 2 ? space : head.length;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? parts : [...parts, rest];
}

/** Whole characters only. */
function cutAt(text: string, length: number): string {
  const cut = text.slice(0, length);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

function grouped(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  let group: Piece[] = [];
  let size = 0;
  for (const piece of pieces) {
    const isFull = size + piece.text.length > mostChars || (size >= goodChars && piece.startsParagraph);
    if (isFull && group.length > 0) {
      groups.push(group);
      group = overlapOf(group);
      size = textOf(group).length;
    }
    group.push(piece);
    size += piece.text.length + 1;
  }
  if (group.length > 0) groups.push(group);
  return groups;
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
