import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { RepeatedEvent } from "./repeated-event.ts";

const textOf = (data: string) => (JSON.parse(data) as { delta?: { text?: string } }).delta?.text;
const event = (text: string, rest = '"n":1') => `{"id":"e","delta":{"text":${JSON.stringify(text)}},${rest}}`;

function learned(...events: [data: string, text: string][]): RepeatedEvent {
  const repeated = new RepeatedEvent(textOf);
  for (const [data, text] of events) repeated.learn(data, text);
  return repeated;
}

describe("repeated events", () => {
  const repeated = learned([event("Hello"), "Hello"]);

  it.each(["", "a", " world", "é🌊", 'a "quote"', "line\nline\t\\", "\u2028", "\0", "{", '","x":"'])(
    "are read without parsing: %j",
    (text) => {
      const read = repeated.read(event(text));
      expect(read?.value).toBe(text);
      expect(`${read?.before}${read?.text}${read?.after}`).toBe(event(text));
    },
  );

  it("are parsed when anything else differs", () => {
    expect(repeated.read(event("a", '"n":2'))).toBeUndefined();
    expect(repeated.read(event("a").replace('"e"', '"f"'))).toBeUndefined();
    expect(repeated.read('{"error":"a"}')).toBeUndefined();
    expect(repeated.read("")).toBeUndefined();
    expect(new RepeatedEvent(textOf).read(event("a"))).toBeUndefined();
  });

  it("are parsed when something with the same ending follows the text", () => {
    const forged = `{"id":"e","delta":{"text":"a"},"n":1,"delta":{"text":"b"},"n":1}`;
    expect(textOf(forged)).toBe("b");
    expect(repeated.read(forged)).toBeUndefined();
    expect(repeated.read(event("x").replace('"x"', '"a\\"'))).toBeUndefined();
    expect(repeated.read(event("x").replace('"x"', '"a\nb"'))).toBeUndefined();
    expect(repeated.read(event("x").replace('"x"', '"\\x"'))).toBeUndefined();
  });

  it("keep only their text in memory, not the event", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const around = `"n":"${"x".repeat(1900)}"`;
    // Each event is a separate string, as from a connection.
    const arrived = (text: string) => Buffer.from(event(text, around)).toString();
    const large = learned([arrived("Hello"), "Hello"]);
    const kept: (string | undefined)[] = [];
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 10_000; n++) kept.push(large.read(arrived(`a piece of the answer ${n}`))?.value);
    collect();
    // After garbage collection the texts take 1 MB, the events 20 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    expect(kept[9_999]).toBe("a piece of the answer 9999");
  });

  it("are parsed when prefix and suffix overlap", () => {
    const short = learned(['{"delta":{"text":"aa"}}', "aa"]);
    expect(short.read('{"delta":{"text":""}}')?.value).toBe("");
    expect(short.read('{"delta":{"text":"}}')).toBeUndefined();
  });
});

describe("learning", () => {
  it("requires that the text occurs once", () => {
    const twice = '{"role":"Hello","delta":{"text":"Hello"}}';
    expect(learned([twice, "Hello"]).read(twice)).toBeUndefined();
    const elsewhere = '{"note":"Hello","delta":{"text":"\\u0048ello"}}';
    expect(textOf(elsewhere)).toBe("Hello");
    expect(learned([elsewhere, "Hello"]).read(elsewhere)).toBeUndefined();
  });

  it("stops after a few attempts", () => {
    const numbered = [1, 2, 3, 4].map((n): [string, string] => [event("Hello", `"n":${n}`), "Hello"]);
    const repeated = learned(...numbered);
    expect(repeated.read(event("a", '"n":3'))?.value).toBe("a");
    expect(repeated.read(event("a", '"n":4'))).toBeUndefined();
  });

  it("ignores long events", () => {
    const long = event("Hello", `"n":"${"x".repeat(3000)}"`);
    expect(learned([long, "Hello"]).read(long)).toBeUndefined();
  });
});
