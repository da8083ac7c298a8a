import Handlebars from "handlebars";
import { templateFunctions } from "./functions.ts";
import type { Block, BlockForm, Expression, Part, Path, Program } from "./program.ts";
import { faultOfBounds } from "./template-bounds.ts";

const maxFaults = 20;

export interface ReadTemplate {
  program: Program;
  faults: readonly string[];
}

/** A node of the Handlebars parser, with the fields used here. */
interface Node {
  type: string;
  loc?: { start?: { line?: number } };
  value?: unknown;
  body?: readonly Node[];
  blockParams?: readonly string[];
  path?: Node;
  params?: readonly Node[];
  hash?: { pairs: readonly { key: string; value: Node }[] };
  program?: Node;
  inverse?: Node;
  data?: boolean;
  depth?: number;
  parts?: readonly string[];
  original?: unknown;
}

const blockForms: ReadonlySet<string> = new Set<BlockForm>(["if", "unless", "each", "with"]);
const unsupported: Readonly<Record<string, string>> = {
  PartialStatement: "Partials are not available",
  PartialBlockStatement: "Partials are not available",
  Decorator: "Decorators are not available",
  DecoratorBlock: "Decorators are not available",
};

// The compiler of Handlebars turns templates into JavaScript and had several vulnerabilities. So only its parser is used,
// and `evaluate.ts` interprets the result.
const { parse } = Handlebars.create();

/** The program is usable only without faults. */
export function readTemplate(source: string): ReadTemplate {
  const outOfBounds = faultOfBounds(source);
  if (outOfBounds !== undefined) return refused(outOfBounds);
  let root: Node;
  try {
    root = parse(source) as Node;
  } catch (error) {
    return refused(`The template cannot be parsed: ${firstLines(error)}`);
  }
  const faults: string[] = [];
  const program = new Reader(faults).program(root);
  return { program, faults: faults.slice(0, maxFaults) };
}

function refused(fault: string): ReadTemplate {
  return { program: [], faults: [fault] };
}

/** Further lines list every token that the parser expected. */
function firstLines(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n").slice(0, 3).join(" ").replace(/\s+/g, " ").slice(0, 300);
}

class Reader {
  readonly #faults: string[];

  constructor(faults: string[]) {
    this.#faults = faults;
  }

  program(node: Node | undefined): Program {
    return (node?.body ?? []).flatMap((statement) => this.#statement(statement));
  }

  #statement(node: Node): Part[] {
    switch (node.type) {
      case "ContentStatement":
        return node.value === "" ? [] : [{ kind: "text", text: String(node.value) }];
      case "CommentStatement":
        return [];
      case "MustacheStatement":
        return [{ kind: "output", value: this.#callOrPath(node) }];
      case "BlockStatement":
        return this.#block(node);
      default:
        this.#fault(node, unsupported[node.type] ?? `${node.type} is not available`);
        return [];
    }
  }

  #block(node: Node): Block[] {
    const name = nameOf(node);
    const params = node.params ?? [];
    const isForm = blockForms.has(name);
    if (!isForm && (params.length > 0 || node.hash)) {
      const known = templateFunctions.has(name);
      return this.#fault(node, known ? `${name} is not a block. Write {{#if (${name} …)}}` : `Unknown block ${name}`);
    }
    const [subject] = params;
    if (isForm && (!subject || params.length > 1)) return this.#fault(node, `#${name} takes exactly one argument`);
    return [
      {
        kind: "block",
        form: isForm ? (name as BlockForm) : "section",
        subject: subject ? this.#expression(subject) : this.#path(node.path),
        includeZero: this.#includeZero(node, name),
        body: this.program(node.program),
        names: node.program?.blockParams ?? [],
        otherwise: this.program(node.inverse),
      },
    ];
  }

  #includeZero(node: Node, name: string): Expression | undefined {
    let found: Expression | undefined;
    for (const { key, value } of node.hash?.pairs ?? []) {
      if (key === "includeZero" && (name === "if" || name === "unless")) found = this.#expression(value);
      else this.#fault(node, `#${name} has no option ${key}`);
    }
    return found;
  }

  #expression(node: Node): Expression {
    switch (node.type) {
      case "StringLiteral":
      case "NumberLiteral":
      case "BooleanLiteral":
        return { kind: "literal", value: node.value as string | number | boolean };
      case "NullLiteral":
        return { kind: "literal", value: null };
      case "UndefinedLiteral":
        return { kind: "literal", value: undefined };
      case "SubExpression":
        return this.#callOrPath(node);
      case "PathExpression":
        return this.#path(node);
      default:
        this.#fault(node, `${node.type} is not available`);
        return { kind: "literal", value: undefined };
    }
  }

  /** A name without arguments is a path in the input; with arguments it is a call. */
  #callOrPath(node: Node): Expression {
    const params = node.params ?? [];
    if (params.length === 0 && !node.hash) return this.#path(node.path);
    const name = nameOf(node);
    const known = templateFunctions.get(name);
    if (!known) {
      this.#fault(node, blockForms.has(name) ? `${name} is a block. Write {{#${name} …}}` : `Unknown helper ${name}`);
    } else if (node.hash) {
      this.#fault(node, `${name} has no option ${node.hash.pairs[0]?.key}`);
    } else if (params.length < known.least || params.length > known.most) {
      this.#fault(
        node,
        `${name} takes ${known.least === known.most ? known.least : `${known.least} to ${known.most}`} arguments`,
      );
    } else {
      return { kind: "call", name, args: params.map((param) => this.#expression(param)) };
    }
    return { kind: "literal", value: undefined };
  }

  #path(node: Node | undefined): Path {
    // A literal may be a name: {{"first name"}}.
    const parts = node?.parts ?? [String(node?.original ?? node?.value)];
    const text = String(node?.original ?? parts.join("."));
    return {
      kind: "path",
      isData: node?.data === true,
      depth: node?.depth ?? 0,
      parts,
      isScoped: node?.type === "PathExpression" && /^(\.|this\b)/.test(text),
      text,
    };
  }

  #fault(node: Node, message: string): [] {
    const line = node.loc?.start?.line;
    this.#faults.push(line === undefined ? message : `Line ${line}: ${message}`);
    return [];
  }
}

function nameOf(node: Node): string {
  return String(node.path?.original ?? "");
}
