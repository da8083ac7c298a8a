import { fault } from "../../kernel/errors.ts";
import { isTruthy, ownValue, templateFunctions, textOf, type Work } from "./functions.ts";
import type { Block, Expression, Path, Program } from "./program.ts";

/** Parts and expressions evaluated, over all iterations. */
const maxSteps = 100_000;
/** Parts, levels and block parameters that one lookup searches without further steps. */
const searchedPerStep = 16;
/** Characters of all intermediate texts. */
const maxCharacters = 4_194_304;
const maxResultLength = 1_048_576;

/** `../` refers to `outer`, `@../index` to the outer loop. */
interface Scope {
  context: unknown;
  outer: Scope | undefined;
  loop: Loop | undefined;
  names: Names | undefined;
}

interface Loop {
  key: string | number;
  index: number;
  first: boolean;
  last: boolean;
  outer: Loop | undefined;
}

interface Names {
  of: readonly string[];
  values: readonly unknown[];
  outer: Names | undefined;
}

/** Renders templates over one input like Handlebars without escaping. The bounds above hold for all of them together. */
export class Rendering implements Work {
  readonly #root: unknown;
  readonly #top: Scope;
  readonly #subject: string;
  #result = "";
  #length = 0;
  #steps = 0;
  #characters = 0;

  /** `subject` begins the messages of faults. */
  constructor(root: unknown, subject: string) {
    this.#root = root;
    this.#top = { context: root, outer: undefined, loop: undefined, names: undefined };
    this.#subject = subject;
  }

  text(program: Program): string {
    this.#result = "";
    this.#run(program, this.#top);
    return this.#result;
  }

  /** A template that is one placeholder keeps the type of the value; undefined if it is missing. */
  value(program: Program): unknown {
    const [part] = program;
    if (program.length !== 1 || part?.kind !== "output" || part.value.kind !== "path") return this.text(program);
    const value = this.#value(part.value, this.#top);
    this.#count(typeof value === "string" ? value.length : (JSON.stringify(value)?.length ?? 0));
    return value;
  }

  charge(characters: number): void {
    this.#characters += characters;
    if (this.#characters > maxCharacters) throw this.#tooMuch();
  }

  #run(program: Program, scope: Scope): void {
    for (const part of program) {
      this.#step();
      if (part.kind === "text") this.#write(part.text);
      else if (part.kind === "output") this.#write(textOf(this.#value(part.value, scope), this));
      else this.#block(part, scope);
    }
  }

  #step(count = 1): void {
    this.#steps += count;
    if (this.#steps > maxSteps) throw this.#tooMuch();
  }

  /** Usual paths are free. */
  #search(count: number): void {
    this.#step(Math.floor(count / searchedPerStep));
  }

  #write(text: string): void {
    this.#result += text;
    this.#count(text.length);
  }

  #count(characters: number): void {
    this.#length += characters;
    if (this.#length <= maxResultLength) return;
    const msg = `${this.#subject} is longer than ${maxResultLength} characters with this input`;
    throw fault("string_too_long", msg, { loc: ["body", "input"], ctx: { max_length: maxResultLength } });
  }

  #tooMuch(): Error {
    return fault("value_error", `${this.#subject} loops too often over this input`, { loc: ["body", "input"] });
  }

  #block(block: Block, scope: Scope): void {
    const value = this.#value(block.subject, scope);
    switch (block.form) {
      case "if":
      case "unless": {
        const zeroCounts = value === 0 && block.includeZero && isTruthy(this.#value(block.includeZero, scope));
        const isMet = isTruthy(value) || Boolean(zeroCounts);
        this.#run(isMet === (block.form === "if") ? block.body : block.otherwise, scope);
        break;
      }
      case "with":
        if (isTruthy(value) || value === 0) this.#run(block.body, within(scope, value, block, [value]));
        else this.#run(block.otherwise, scope);
        break;
      case "each":
        this.#each(block, value, scope);
        break;
      case "section":
        if (value === true) this.#run(block.body, scope);
        else if (value === false || value === null || value === undefined) this.#run(block.otherwise, scope);
        else if (Array.isArray(value)) this.#each(block, value, scope);
        else this.#run(block.body, within(scope, value, block, []));
        break;
    }
  }

  #each(block: Block, value: unknown, scope: Scope): void {
    const isObject = typeof value === "object" && value !== null;
    const keys = isObject && !Array.isArray(value) ? Object.keys(value) : undefined;
    const length = keys?.length ?? (isObject ? (value as readonly unknown[]).length : 0);
    if (length === 0) this.#run(block.otherwise, scope);
    for (let index = 0; index < length; index++) {
      this.#step();
      const key = keys?.[index] ?? index;
      const entry = (value as Record<string | number, unknown>)[key];
      const loop = { key, index, first: index === 0, last: index === length - 1, outer: scope.loop };
      this.#run(block.body, { ...within(scope, entry, block, [entry, key]), loop });
    }
  }

  #value(expression: Expression, scope: Scope): unknown {
    this.#step();
    switch (expression.kind) {
      case "literal":
        return expression.value;
      case "path":
        return this.#lookUp(expression, scope);
      case "call": {
        const args = expression.args.map((arg) => this.#value(arg, scope));
        return templateFunctions.get(expression.name)?.call(args, this);
      }
    }
  }

  #lookUp(path: Path, scope: Scope): unknown {
    this.#search(path.parts.length + path.depth);
    if (path.isData) return this.#loopValue(path, scope);
    const [first, ...rest] = path.parts;
    if (first !== undefined && path.depth === 0 && !path.isScoped) {
      for (let names = scope.names; names; names = names.outer) {
        this.#search(names.of.length);
        const at = names.of.indexOf(first);
        if (at >= 0) return rest.reduce(ownValue, names.values[at]);
      }
    }
    let from: Scope | undefined = scope;
    for (let up = 0; up < path.depth; up++) from = from?.outer;
    return path.parts.reduce(ownValue, from?.context);
  }

  #loopValue({ parts: [name, ...rest], depth }: Path, scope: Scope): unknown {
    if (name === "root") return rest.reduce(ownValue, this.#root);
    let loop = scope.loop;
    for (let up = 0; up < depth; up++) loop = loop?.outer;
    return rest.length === 0 && name !== "outer" ? ownValue(loop, name ?? "") : undefined;
  }
}

/** In Handlebars only a block that changes the context adds a level for `../`. */
function within(scope: Scope, context: unknown, block: Block, values: readonly unknown[]): Scope {
  return {
    context,
    outer: context === scope.context ? scope.outer : scope,
    loop: scope.loop,
    names: block.names.length > 0 ? { of: block.names, values, outer: scope.names } : scope.names,
  };
}
