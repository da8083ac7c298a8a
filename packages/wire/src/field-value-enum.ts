/** Values in a manifest are not nested deeper. */
const deepest = 64;

/**
 * Whether a value is one of the given JSON values, in time proportional to the value. Objects are equal regardless of
 * key order.
 */
export function compileMembership(values: readonly unknown[]): (value: unknown) => boolean {
  const scalars = new Set(values.filter((value) => !isStructure(value)));
  const structures = new Set(values.filter(isStructure).map((value) => canonical(value, 0)));
  return (value) => {
    if (!isStructure(value)) return scalars.has(value);
    return structures.size > 0 && structures.has(canonical(value, 0));
  };
}

function isStructure(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Equal values have the same text. Deeper nesting becomes a text that is not JSON. */
function canonical(value: unknown, depth: number): string {
  if (!isStructure(value)) return JSON.stringify(value) ?? "null";
  if (depth === deepest) return "…";
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each, depth + 1)).join()}]`;
  const parts = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${parts.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each, depth + 1)}`).join()}}`;
}
