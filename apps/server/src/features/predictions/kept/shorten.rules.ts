/** Tried one after the other, until the JSON fits. */
const cuts: readonly { chars: number; entries: number }[] = [
  { chars: 65_536, entries: 10_000 },
  { chars: 16_384, entries: 1_000 },
  { chars: 4_096, entries: 300 },
  { chars: 1_024, entries: 100 },
  { chars: 200, entries: 30 },
  { chars: 50, entries: 5 },
];

const mark = "…";

/** The JSON of an object within a bound. Long texts lose their ends, long lists their first entries. */
export function shorten(
  value: Readonly<Record<string, unknown>>,
  mostBytes: number,
): { json: string; truncated: boolean } {
  const whole = JSON.stringify(value);
  if (fits(whole, mostBytes)) return { json: whole, truncated: false };
  for (const cut of cuts) {
    const json = JSON.stringify(cutValue(value, cut));
    if (fits(json, mostBytes)) return { json, truncated: true };
  }
  return { json: "{}", truncated: true };
}

function fits(json: string, mostBytes: number): boolean {
  // A character has at most three bytes here, so most texts need not be measured.
  return json.length * 3 <= mostBytes || (json.length <= mostBytes && Buffer.byteLength(json) <= mostBytes);
}

function cutValue(value: unknown, cut: (typeof cuts)[number]): unknown {
  if (typeof value === "string") {
    return value.length > cut.chars ? value.slice(0, cut.chars).toWellFormed() + mark : value;
  }
  if (Array.isArray(value)) return lastOf(value, cut.entries).map((each) => cutValue(each, cut));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).slice(0, cut.entries);
  return Object.fromEntries(entries.map(([name, each]) => [name.slice(0, cut.chars), cutValue(each, cut)]));
}

/** The end of a conversation says more about a request than its beginning. */
function lastOf(list: readonly unknown[], most: number): readonly unknown[] {
  return list.length > most ? list.slice(-most) : list;
}
