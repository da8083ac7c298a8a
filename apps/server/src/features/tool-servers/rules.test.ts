import { describe, expect, it } from "vitest";
import type { ToolContent, ToolResult } from "../../engines/tools/tools.ts";
import { hideInTools, hiding, nothingHidden } from "./hide.rules.ts";
import { shownTools } from "./list-tools.ts";
import { resultText } from "./result-text.rules.ts";
import { keepsOrigin } from "./servers.ts";
import { isServerToolName, nameTools } from "./tool-names.rules.ts";

const asIs = (text: string) => text;

describe("names of tools for the model", () => {
  const names = (tools: [string, string][], taken?: Set<string>) => [
    ...nameTools(
      tools.map(([serverName, tool]) => ({ serverName, tool })),
      taken,
    ).keys(),
  ];

  it("combine the names of server and tool", () => {
    expect(names([["files", "read"]])).toEqual(["files__read"]);
  });

  it("contain only characters that every model API accepts", () => {
    expect(names([["files", "read.all/größe 1"]])).toEqual(["files__read_all_gr__e_1"]);
  });

  it("have at most 64 characters and stay unique", () => {
    const long = names([
      ["s".repeat(40), `${"t".repeat(60)}1`],
      ["s".repeat(40), `${"t".repeat(60)}2`],
    ]);
    expect(new Set(long).size).toBe(2);
    for (const name of long) expect(name).toMatch(/^[a-zA-Z0-9_-]{64}$/);
  });

  it("are recognised by their form", () => {
    const possible = names([
      ["files", "read"],
      ["files", "größe 1"],
      ["s".repeat(40), "t".repeat(60)],
      ["_", "_"],
    ]);
    expect(possible.filter((name) => !isServerToolName(name))).toEqual([]);
    const impossible = [
      "drive_delete",
      "files__",
      "__read",
      "files__a b",
      `${"s".repeat(41)}__t`,
      `s__${"t".repeat(62)}`,
    ];
    expect(impossible.filter(isServerToolName)).toEqual([]);
  });

  it("do not depend on the order of tools", () => {
    const alike: [string, string][] = [
      ["a", "b__c"],
      ["a__b", "c"],
      ["x", "y.z"],
      ["x", "y_z"],
      ["x", "plain"],
    ];
    const given = nameTools(alike.map(([serverName, tool]) => ({ serverName, tool })));
    const reversed = nameTools(alike.toReversed().map(([serverName, tool]) => ({ serverName, tool })));
    expect(given.size).toBe(5);
    expect(given.has("x__plain")).toBe(true);
    for (const [name, tool] of given) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(reversed.get(name)).toEqual(tool);
    }
  });

  it("avoid names that are taken", () => {
    const [name] = names([["files", "read"]], new Set(["files__read"]));
    expect(name).toMatch(/^files__read_[0-9a-f]{8}$/);
  });
});

describe("the result for the model", () => {
  const result = (content: ToolContent[], structured?: unknown): ToolResult => ({
    content,
    structured,
    isError: false,
  });
  const textOf = (content: ToolContent[], structured?: unknown) => resultText(result(content, structured), asIs).text;

  it("keeps text and describes other content", () => {
    const mimeType = "image/png";
    expect(
      textOf([
        { type: "text", text: "one" },
        { type: "image", mimeType, bytes: 123 },
        { type: "audio", mimeType: "audio/wav", bytes: 4 },
        { type: "resource", uri: "file:///a.txt", mimeType: "text/plain", text: "inside" },
        { type: "blob", uri: "file:///a.bin", mimeType: undefined, bytes: 9 },
        { type: "link", uri: "file:///b", name: "b", mimeType: undefined, description: "another\nfile" },
        { type: "unknown", kind: "video" },
      ]),
    ).toBe(
      [
        "one",
        "[image: image/png, 123 bytes]",
        "[audio: audio/wav, 4 bytes]",
        "[resource file:///a.txt, text/plain]\ninside",
        "[resource file:///a.bin, 9 bytes, no text]",
        "[link to b file:///b]: another file",
        "[content of the type video, which cannot be shown]",
      ].join("\n\n"),
    );
    expect(textOf([])).toBe("(no content)");
    expect(resultText({ ...result([]), isError: true }, asIs).text).toBe("The tool failed without a reason.");
  });

  it("contains structured content once, even if the server repeats it as text", () => {
    const structured = { a: 1, b: [2] };
    const repeated: ToolContent = { type: "text", text: '{ "b": [2], "a": 1 }' };
    expect(textOf([repeated], structured)).toBe(repeated.text);
    expect(textOf([{ type: "text", text: "{broken" }], structured)).toBe('{broken\n\n{"a":1,"b":[2]}');
    expect(textOf([], structured)).toBe('{"a":1,"b":[2]}');
  });

  it("describes structured content that is nested too deeply", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
    expect(textOf([{ type: "text", text: "{}" }], deep)).toMatch(/^\{\}\n\n\[structured content nested too deeply/);
  });

  it("is truncated to 64 kB between characters, with a note", () => {
    const exact = "x".repeat(65_536);
    expect(resultText(result([{ type: "text", text: exact }]), asIs)).toEqual({ text: exact, truncated: false });
    const over = resultText(result([{ type: "text", text: `${exact}x` }]), asIs);
    expect(over.truncated).toBe(true);
    expect(over.text).toMatch(/\[cut: the result has 65537 bytes, these are its first 65336\]$/);
    for (const shift of ["", "x", "xx", "xxx"]) {
      const { text } = resultText(result([{ type: "text", text: shift + "🦉".repeat(20_000) }]), asIs);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
      expect(text).toMatch(/🦉\n\n\[cut/u);
      expect(text).not.toContain("\uFFFD");
    }
  });

  it("contains only characters that can be stored", () => {
    expect(textOf([{ type: "text", text: "a\0b\uD800c" }])).toBe("a\uFFFDb\uFFFDc");
  });

  it("masks the credential", () => {
    const mask = (text: string) => text.replaceAll("secret", "[hidden]");
    expect(resultText(result([{ type: "text", text: "my secret" }]), mask).text).toBe("my [hidden]");
    const uri = `${"x".repeat(497)}secret`;
    const link: ToolContent = { type: "link", uri, name: "a", mimeType: undefined, description: undefined };
    expect(resultText(result([link]), mask).text).toBe(`[link to a ${"x".repeat(497)}[hi]`);
  });
});

describe("hiding a credential", () => {
  it.each([
    ["sekret-token", "you sent sekret-token", "you sent [hidden]"],
    ['a"b\\c1234', 'as JSON: a\\"b\\\\c1234', "as JSON: [hidden]"],
    ["Token 0123456789", "behind the word: 0123456789", "behind the word: [hidden]"],
    ["Token short", "short words are left, Token short is not", "short words are left, [hidden] is not"],
    ["Basic c2VrcmV0OnBhc3N3b3Jk", "c2VrcmV0OnBhc3N3b3Jk, sekret:password, password", "[hidden], [hidden], [hidden]"],
    ["Basic YW5uOnNlYXJjaA==", "ann:search is a pair, search a word", "[hidden] is a pair, search a word"],
    ["Basic not/base64", "no pair: not/base64", "no pair: [hidden]"],
    ["abc", "abc is too short", "abc is too short"],
  ])("%j in %j", (credential, said, shown) => {
    expect(hiding(credential).mask(said)).toBe(shown);
  });

  it("finds the credential in JSON, however it is escaped", () => {
    const { isIn } = hiding('a"b\\c1234');
    for (const said of ['a"b\\c1234', 'a\\"b\\\\c1234']) expect(isIn(JSON.stringify({ x: [said] }))).toBe(true);
    expect(isIn(JSON.stringify({ x: "a b c1234" }))).toBe(false);
  });

  it.each([
    ["nothing to hide", "b"],
    ["something in each tool", "password"],
  ])("masks large lists once and in slices (%s)", async (_what, said) => {
    const properties = Object.fromEntries(Array.from({ length: 3500 }, (_, at) => [`key-${at}`, { a: said }]));
    const one = { description: "", readOnly: true, destructive: false };
    const tools = Array.from({ length: 64 }, (_, at) => ({ ...one, name: `t${at}`, parameters: { properties } }));
    const list = { tools, unusable: [], isCut: false };
    const basic = "Basic c2VrcmV0OnBhc3N3b3Jk";
    const signedIn = { header: { name: "authorization", value: basic } };
    let turns = 0;
    const turning = setInterval(() => turns++, 0);
    const shown = await shownTools(list, signedIn, hiding(basic));
    clearInterval(turning);
    // The event loop runs between slices. A fast machine needs few of them.
    expect(turns).toBeGreaterThan(0);
    expect(JSON.stringify(shown)).not.toContain("password");
    expect(await shownTools(list, signedIn, hiding(basic))).toBe(shown);
    expect(await shownTools(list, {}, nothingHidden)).not.toBe(shown);
  });

  it("masks the credential in tools and refuses tools whose name contains it", () => {
    const clean = { name: "b", description: "", parameters: { type: "object" }, readOnly: true, destructive: false };
    const telling = {
      ...clean,
      name: "a",
      description: "with sekret-1",
      parameters: { properties: { "sekret-1": { default: ["sekret-1", 1, null] } }, required: ["sekret-1"] },
    };
    const unusable = [
      { name: "sekret-1-task", reason: "no" },
      { name: "task", reason: "no" },
    ];
    const list = { tools: [telling, { ...clean, name: "x-sekret-1" }, clean], unusable, isCut: false };
    const hidden = hideInTools(list, {}, hiding("sekret-1"));
    expect(hidden).toEqual({
      tools: [
        {
          ...telling,
          description: "with [hidden]",
          parameters: { properties: { "[hidden]": { default: ["[hidden]", 1, null] } }, required: ["[hidden]"] },
        },
        clean,
      ],
      unusable: [
        { name: "[hidden]-task", reason: "no" },
        { name: "task", reason: "no" },
        { name: "x-[hidden]", reason: "The name of the tool contains the credential or a part of it" },
      ],
      isCut: false,
    });
    expect(hidden.tools[1]?.parameters).toBe(clean.parameters);
  });
});

it.each([
  ["https://a.example/mcp", "https://a.example:443/other", true],
  ["http://a.example/mcp", "https://a.example/mcp", true],
  ["http://a.example:80/mcp", "https://a.example:443/mcp", true],
  ["https://a.example/mcp", "http://a.example/mcp", false],
  ["https://a.example/mcp", "https://a.example:8443/mcp", false],
  ["http://a.example:8080/mcp", "https://a.example/mcp", false],
  ["http://a.example/mcp", "https://a.example:8443/mcp", false],
  ["https://a.example/mcp", "https://b.example/mcp", false],
])("from %s to %s a credential is taken along: %s", (former, next, isKept) => {
  expect(keepsOrigin(former, next)).toBe(isKept);
});
