/** Where in a text of JSON something stands, so that a fault can be shown at its place. */
export interface JsonPlaces {
  /** The line, from 1, of the value that a path leads to, or of what is nearest above it. */
  lineOf(path: readonly (string | number)[]): number;
}

/** A text that is no JSON. */
export class NoJson extends Error {
  readonly line: number;
  constructor(line: number) {
    super(`This is no JSON: look at line ${line}`);
    this.line = line;
  }
}

const keyOf = (path: readonly (string | number)[]): string => JSON.stringify(path.map(String));

const token = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null))/y;

/** Reads a text of JSON for the places of its values; throws NoJson with the line where it stops being one. */
export function placesIn(text: string): JsonPlaces {
  const offsets = new Map<string, number>();
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
  let at = 0;

  function next(): { sign: string | undefined; scalar: string | undefined; begin: number } {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) throw new NoJson(lineAt(at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0)));
    at = token.lastIndex;
    const [, sign, scalar] = match;
    return { sign, scalar, begin: at - (sign ?? scalar ?? "").length };
  }

  function expect(...wanted: string[]): string {
    const { sign, begin } = next();
    if (sign === undefined || !wanted.includes(sign)) throw new NoJson(lineAt(begin));
    return sign;
  }

  function isClosedBy(sign: string): boolean {
    const before = at;
    try {
      if (next().sign === sign) return true;
    } catch {
      // Told when it is read as what it should be.
    }
    at = before;
    return false;
  }

  function readValue(path: readonly (string | number)[], begin?: number): void {
    const read = next();
    if (!offsets.has(keyOf(path))) offsets.set(keyOf(path), begin ?? read.begin);
    if (read.scalar !== undefined) return;
    if (read.sign === "[") readParts("]", (index) => readValue([...path, index]));
    else if (read.sign === "{") {
      readParts("}", () => {
        const name = next();
        if (!name.scalar?.startsWith('"')) throw new NoJson(lineAt(name.begin));
        expect(":");
        readValue([...path, JSON.parse(name.scalar) as string], name.begin);
      });
    } else throw new NoJson(lineAt(read.begin));
  }

  function readParts(end: string, readPart: (index: number) => void): void {
    if (isClosedBy(end)) return;
    for (let index = 0; ; index++) {
      readPart(index);
      if (expect(",", end) === end) return;
    }
  }

  readValue([]);
  if (text.slice(at).trim() !== "") throw new NoJson(lineAt(at + text.slice(at).search(/\S/)));
  return {
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const offset = offsets.get(keyOf(path.slice(0, length)));
        if (offset !== undefined) return lineAt(offset);
      }
      return 1;
    },
  };
}
