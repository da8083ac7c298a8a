// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Document = any;

/** The parts that tests read. */
export interface Schema {
  type?: string;
  format?: string;
  enum?: string[];
  description?: string;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  required?: string[];
}

export interface Operation {
  parameters: { name: string; in: string; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

/** The document with its references resolved. */
export function inlined(document: Document): Document {
  const find = (ref: string) =>
    ref
      .slice(2)
      .split("/")
      .reduce((here, step) => here?.[step], document);
  const walk = (node: Document): Document => {
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== "object" || node === null) return node;
    const { $ref, ...rest } = node;
    const found = typeof $ref === "string" ? walk(find($ref) ?? {}) : {};
    return { ...found, ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, walk(value)])) };
  };
  // The references in a discriminator's mapping are strings and stay.
  return walk(document);
}

/** Every `$ref` in it. */
export function referencesIn(document: Document): Set<string> {
  const found = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)];
  return new Set(found.map(([, ref = ""]) => ref));
}
