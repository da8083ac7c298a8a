/** Line numbers of values in JSON text, to show errors where they occur. */
export interface JsonPositions {
  /** 1-based line of the value at the path, or of its closest existing ancestor. */
  lineOf(path: readonly (string | number)[]): number;
}

export class InvalidJson extends Error {
  readonly line: number;
  constructor(line: number) {
    super(`Invalid JSON in line ${line}`);
    this.line = line;
  }
}

const keyOf = (path: readonly (string | number)[]): string => JSON.stringify(path.map(String));

const token = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null))/y;

/** Throws InvalidJson with the line of the first syntax error. */
export function positionsIn(text: string): JsonPositions {
  const offsets = new Map<string, number>();
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
  let at = 0;

  function next(): { sign: string | undefined; scalar: string | undefined; begin: number } {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) throw new InvalidJson(lineAt(at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0)));
    at = token.lastIndex;
    const [, sign, scalar] = match;
    return { sign, scalar, begin: at - (sign ?? scalar ?? "").length };
  }

  function expect(...wanted: string[]): string {
    const { sign, begin } = next();
    if (sign === undefined || !wanted.includes(sign)) throw new InvalidJson(lineAt(begin));
    return sign;
  }

  function isClosedBy(sign: string): boolean {
    const before = at;
    try {
      if (next().sign === sign) return true;
    } catch {
      // The caller reports the error when it reads the token again.
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
        if (!name.scalar?.startsWith('"')) throw new InvalidJson(lineAt(name.begin));
        expect(":");
        readValue([...path, JSON.parse(name.scalar) as string], name.begin);
      });
    } else throw new InvalidJson(lineAt(read.begin));
  }

  function readParts(end: string, readPart: (index: number) => void): void {
    if (isClosedBy(end)) return;
    for (let index = 0; ; index++) {
      readPart(index);
      if (expect(",", end) === end) return;
    }
  }

  readValue([]);
  if (text.slice(at).trim() !== "") throw new InvalidJson(lineAt(at + text.slice(at).search(/\S/)));
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
