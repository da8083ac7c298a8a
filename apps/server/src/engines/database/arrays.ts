/**
 * Arrays of built-in types, as text. The driver can do this too, but it asks the server for the list of types on every
 * connect, and when the connection breaks in that moment the rejection has no handler, which ends the process. Arrays of
 * types that migrations create (enums, domains) are not known here: cast them to `text[]`.
 */
const arrayTypes: Record<number, number> = {
  16: 1000, // bool
  17: 1001, // bytea
  20: 1016, // int8
  21: 1005, // int2
  23: 1007, // int4
  25: 1009, // text
  26: 1028, // oid
  114: 199, // json
  700: 1021, // float4
  701: 1022, // float8
  1042: 1014, // bpchar
  1043: 1015, // varchar
  1082: 1182, // date
  1114: 1115, // timestamp
  1184: 1185, // timestamptz
  1700: 1231, // numeric
  2950: 2951, // uuid
  3802: 3807, // jsonb
  19: 1003, // name
};

interface TypeTables {
  parsers: Record<number, (text: string) => unknown>;
  serializers: Record<number, (value: unknown) => unknown>;
  shared: { typeArrayMap: Record<number, number> };
}

/** Teaches a driver the array types, by way of the tables in its options that all its connections share. */
export function addArrayTypes(options: object): void {
  const { parsers, serializers, shared } = options as TypeTables;
  for (const [element, array] of Object.entries(arrayTypes).map(([key, value]) => [Number(key), value] as const)) {
    shared.typeArrayMap[element] = array;
    const [parse, serialize] = [parsers[element] ?? String, serializers[element] ?? String];
    const nests = element !== 114 && element !== 3802; // inside an array of JSON, an array is a value
    parsers[array] = (text) => parseArray(text, parse);
    serializers[array] = (value) => (Array.isArray(value) ? serializeArray(value, serialize, nests) : value);
  }
}

export function serializeArray(
  values: readonly unknown[],
  serialize: (value: unknown) => unknown,
  nests = true,
): string {
  const parts = values.map((value) => {
    if (value === null) return "NULL";
    if (value === undefined) throw new TypeError("An array for the database holds undefined");
    if (nests && Array.isArray(value)) return serializeArray(value, serialize);
    return `"${String(serialize(value)).replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${parts.join(",")}}`;
}

/** `{1,NULL,"a \"b\""}`, nested at will; `[2:3]={...}` is an array that does not start at 1. */
export function parseArray(text: string, parse: (text: string) => unknown): unknown[] {
  let at = text.indexOf("{");

  function array(): unknown[] {
    const values: unknown[] = [];
    at++; // {
    while (text[at] !== "}") {
      if (at >= text.length) throw new SyntaxError(`Not an array: ${text.slice(0, 100)}`);
      if (text[at] === ",") at++;
      else if (text[at] === "{") values.push(array());
      else if (text[at] === '"') values.push(parse(quoted()));
      else values.push(bare());
    }
    at++; // }
    return values;
  }

  function bare(): unknown {
    const start = at;
    while (at < text.length && text[at] !== "," && text[at] !== "}") at++;
    const word = text.slice(start, at);
    return word === "NULL" ? null : parse(word);
  }

  function quoted(): string {
    const start = ++at;
    let escaped = false;
    for (; text[at] !== '"'; at++) {
      if (at >= text.length) throw new SyntaxError(`Not an array: ${text.slice(0, 100)}`);
      if (text[at] === "\\") {
        escaped = true;
        at++;
      }
    }
    const inside = text.slice(start, at++);
    return escaped ? inside.replace(/\\(.)/gs, "$1") : inside;
  }

  if (at < 0) throw new SyntaxError(`Not an array: ${text.slice(0, 100)}`);
  return array();
}
