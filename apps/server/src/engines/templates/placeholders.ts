import type { Block, Expression, Path, Program } from "./program.ts";
import type { Placeholder, PlaceholderStep } from "./templates.ts";

/** Undefined if it depends on the input. */
type Place = readonly PlaceholderStep[] | undefined;

interface Scope {
  place: Place;
  outer: Scope | undefined;
  names: ReadonlyMap<string, Place>;
}

/** Every path of the input that a program reads, without duplicates. */
export function placeholdersOf(program: Program): Placeholder[] {
  const found = new Map<string, Placeholder>();
  visit(program, { place: [], outer: undefined, names: new Map() });
  return [...found.values()];

  function visit(parts: Program, scope: Scope): void {
    for (const part of parts) {
      if (part.kind === "output") read(part.value, scope);
      else if (part.kind === "block") visitBlock(part, scope);
    }
  }

  function visitBlock(block: Block, scope: Scope): void {
    const place = read(block.subject, scope);
    if (block.includeZero) read(block.includeZero, scope);
    visit(block.otherwise, scope);
    if (block.form === "if" || block.form === "unless") {
      visit(block.body, scope);
      return;
    }
    const inner = block.form === "each" ? place && [...place, null] : place;
    const names = new Map(scope.names);
    // The first name is the value; the second, of `each`, is its key.
    for (const [at, name] of block.names.entries()) names.set(name, at === 0 ? inner : undefined);
    visit(block.body, { place: inner, outer: scope, names });
  }

  function read(expression: Expression, scope: Scope): Place {
    if (expression.kind === "literal") return undefined;
    if (expression.kind === "call") {
      for (const arg of expression.args) read(arg, scope);
      return undefined;
    }
    const place = placeOf(expression, scope);
    // The context itself always exists.
    if (place && place.length > 0) found.set(JSON.stringify(place), { path: place, text: expression.text });
    return place;
  }
}

function placeOf(path: Path, scope: Scope): Place {
  const [first, ...rest] = path.parts;
  if (path.isData) return first === "root" ? rest : undefined;
  if (first !== undefined && path.depth === 0 && !path.isScoped && scope.names.has(first)) {
    const named = scope.names.get(first);
    return named && [...named, ...rest];
  }
  let from: Scope | undefined = scope;
  for (let up = 0; up < path.depth; up++) from = from?.outer;
  return from?.place && [...from.place, ...path.parts];
}
