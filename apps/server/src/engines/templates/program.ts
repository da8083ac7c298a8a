/** A parsed template, restricted to the allowed constructs. */
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
  /** Option of `if` and `unless`: treat 0 as truthy. */
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
  /** Number of leading `../`. */
  depth: number;
  parts: readonly string[];
  /** Starts with `this` or `./`, so it is not a block parameter. */
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
