/** A template after reading: a small language of our own, in which nothing can be said that is not allowed. */
export type Program = readonly Part[];

export type Part = Text | Output | Block;

interface Text {
  kind: "text";
  text: string;
}

interface Output {
  kind: "output";
  value: Expression;
}

export type BlockForm = "if" | "unless" | "each" | "with" | "section";

export interface Block {
  kind: "block";
  form: BlockForm;
  subject: Expression;
  /** Of `if` and `unless`: whether 0 counts as something. */
  includeZero: Expression | undefined;
  body: Program;
  /** The names after `as |…|`. */
  names: readonly string[];
  otherwise: Program;
}

export type Expression = Path | Literal | Call;

export interface Path {
  kind: "path";
  /** `@index` and the like. */
  isData: boolean;
  /** How many `../` stand before it. */
  depth: number;
  parts: readonly string[];
  /** Begins with `this` or `./`: never the name of a block parameter. */
  isScoped: boolean;
  text: string;
}

interface Literal {
  kind: "literal";
  value: string | number | boolean | null | undefined;
}

interface Call {
  kind: "call";
  name: string;
  args: readonly Expression[];
}
