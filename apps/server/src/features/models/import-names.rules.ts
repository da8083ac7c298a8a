const longestName = 63;

/** The upstream's name in lower case, with `-` for characters that a model's name cannot have. */
function plainName(text: string): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, longestName)
    .replace(/[-.]+$/, "");
  return plain === "" ? "model" : plain;
}

export interface NamedImport {
  name: string;
  upstreamId: string;
}

/**
 * Names for the models of an upstream: that of the imported model, or one that no other model of the provider has. The names
 * of two upstream models may differ only in characters that a model's name cannot have.
 */
export function namesFor(
  models: readonly { id: string; nameFrom?: string | undefined }[],
  imported: readonly NamedImport[],
): ReadonlyMap<string, string> {
  const names = new Map(imported.toReversed().map(({ upstreamId, name }) => [upstreamId, name]));
  const taken = new Set(imported.map(({ name }) => name));
  for (const { id, nameFrom = id } of models) {
    if (names.has(id)) continue;
    const name = freeName(plainName(nameFrom), taken);
    names.set(id, name);
    taken.add(name);
  }
  return names;
}

function freeName(plain: string, taken: ReadonlySet<string>): string {
  let name = plain;
  for (let n = 2; taken.has(name); n++) name = `${plain.slice(0, longestName - `-${n}`.length)}-${n}`;
  return name;
}
