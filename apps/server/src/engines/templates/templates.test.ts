import { describe, expect, test } from "vitest";
import { createTemplates } from "./handlebars-templates.ts";

const templates = createTemplates();
const render = templates.render;
const placesOf = (source: string) =>
  templates.check(source).placeholders.map(({ path }) => path.map((s) => s ?? "*").join("."));

describe("render", () => {
  test.each([
    ["Hello {{name}}", { name: "Ann" }, "Hello Ann"],
    ["{{name}} {{{name}}} {{&name}}", { name: "<b>&\"'" }, "<b>&\"' <b>&\"' <b>&\"'"],
    ["[{{missing}}][{{missing.deep.er}}][{{a.missing}}]", { a: 1 }, "[][][]"],
    ["{{yes}} {{no}} {{zero}} {{nothing}}", { yes: true, no: false, zero: 0, nothing: null }, "true false 0 "],
    ["{{list}} {{list.length}} {{list.[1]}}", { list: ["a", "b"] }, "a,b 2 b"],
    ["{{o}}", { o: { a: [1] } }, '{"a":[1]}'],
    ["{{json o}} {{json missing}}", { o: [{ a: 1 }] }, '[{"a":1}] null'],
    ["{{#each list as |x i|}}{{i}}={{x}}{{#unless @last}}, {{/unless}}{{/each}}", { list: ["a", "b"] }, "0=a, 1=b"],
    ["{{#each o}}{{@key}}:{{this}};{{/each}}", { o: { a: 1, b: 2 } }, "a:1;b:2;"],
    ["{{#if (and a (not b))}}1{{else if (or b c)}}2{{else}}3{{/if}}", { a: 1, b: 1 }, "2"],
    ['{{#if (eq kind "x")}}x{{/if}}{{#if (ne kind "x")}}!{{/if}}', { kind: "x" }, "x"],
    ["{{#if (gt n 2)}}many{{/if}}{{#if (lt n 2)}}few{{/if}}", { n: 3 }, "many"],
    ['{{default name "friend"}}, {{join tags " | "}}, {{join tags}}', { tags: ["a", "b"] }, "friend, a | b, a, b"],
    ["{{lookup o key}}{{lookup list 1}}", { o: { k: "v" }, key: "k", list: ["a", "b"] }, "vb"],
    ["{{and}} {{json}} {{each}}", { and: 1, json: 2, each: 3 }, "1 2 3"],
    ["a {{! a remark }}b {{!-- {{other}} --}}c", {}, "a b c"],
    ["\\{{raw}} {{x}}", { x: 1 }, "{{raw}} 1"],
    ["{{#each a}}\n- {{this}}\n{{/each}}\nend", { a: [1, 2] }, "- 1\n- 2\nend"],
  ])("%s", (source, input, expected) => {
    expect(render(source, input)).toBe(expected);
  });

  test("text of the input is never read as a template", () => {
    expect(render("{{a}}", { a: "{{b}}{{#each c}}", b: "no" })).toBe("{{b}}{{#each c}}");
  });
});

describe("hostile", () => {
  test.each([
    "{{constructor}}",
    "{{__proto__}}",
    "{{toString}}",
    "{{a.constructor.name}}",
    "{{a.__proto__.constructor}}",
    '{{lookup a "constructor"}}',
    '{{lookup (lookup a "__proto__") "constructor"}}',
    "{{list.constructor}}{{list.map}}{{text.constructor}}{{text.trim}}",
    "{{#with a.constructor}}{{this}}{{/with}}",
    "{{#each a.__proto__}}{{@key}}{{/each}}",
    "{{@root.constructor}}{{@constructor}}{{@outer}}{{#each list}}{{@outer}}{{@constructor}}{{/each}}",
    "{{#with text as |s|}}{{s.constructor}}{{/with}}",
    "{{../../..}}{{#with a}}{{../../constructor}}{{/with}}",
  ])("%s is empty", (source) => {
    expect(render(source, { a: {}, list: [1], text: "abc" })).toBe("");
  });

  test("own properties of such names are data", () => {
    const input = JSON.parse('{"__proto__": {"x": 1}, "constructor": "c", "toJSON": "t", "o": {"toString": 1}}');
    expect(render("{{__proto__.x}} {{constructor}} {{o}} {{#if (gt o 1)}}{{/if}}", input)).toBe('1 c {"toString":1} ');
  });

  test.each([
    ["{{> partial}}", /Partials/],
    ["{{#> layout}}x{{/layout}}", /Partials/],
    ["{{> (lookup . 'x')}}", /Partials/],
    ['{{#*inline "x"}}y{{/inline}}', /Decorators/],
    ["{{* deco}}", /Decorators/],
    ["{{shout name}}", /Unknown helper shout/],
    ["{{#loop items}}x{{/loop}}", /Unknown block loop/],
    ["{{log name}}", /Unknown helper log/],
    ["{{helperMissing name}}", /Unknown helper helperMissing/],
    ["{{if a b}}", /if is a block/],
    ["{{#eq a b}}x{{/eq}}", /eq is not a block/],
    ["{{#if}}x{{/if}}", /exactly one/],
    ["{{#if a b}}x{{/if}}", /exactly one/],
    ["{{#each a foo=1}}x{{/each}}", /no option foo/],
    ["{{json a b}}", /takes 1 arguments/],
    ["{{eq a}}", /takes 2 arguments/],
    ["{{__proto__.x a}}", /Unknown helper/],
    ["{{constructor a}}", /Unknown helper constructor/],
    ["{{#if a}}", /cannot be parsed/],
    ["{{#if a}}{{/each}}", /cannot be parsed/],
    ["{{a", /cannot be parsed/],
    ["{{a/../b}}", /cannot be parsed/],
    ["{{a.}}", /Unknown helper a/],
    ["x".repeat(65_537), /65536 characters/],
    ["{{#if a}}".repeat(9) + "{{/if}}".repeat(9), /More than 8 nested blocks/],
    [`{{#if a}}${"{{else if a}}".repeat(101)}{{/if}}`, /More than 100 else if branches/],
    [`{{json ${"(not ".repeat(9)}a${")".repeat(9)}}}`, /More than 8 nested calls/],
    ["{{a}}".repeat(5000), /words and symbols/],
  ])("refused: %s", (source, reason) => {
    expect(templates.check(source).faults.join("\n")).toMatch(reason);
    expect(() => render(source, {})).toThrow(reason);
  });

  test("every fault is reported with its line", () => {
    expect(templates.check("{{a b}}\n{{> p}}\n\n{{#x y}}{{/x}}").faults).toEqual([
      "Line 1: Unknown helper a",
      "Line 2: Partials are not available",
      "Line 4: Unknown block x",
    ]);
  });

  // The parser of Handlebars alone takes from half a minute to minutes for each of these.
  test.each(["{{#if a}}", "{{a (b (b ", "{{[", "{{^a}}", "{{#> a}}", "{{#if a}}{{else if a}}", '{{a "'])(
    "64 kB of %s are looked at in no time",
    (unit) => {
      const start = performance.now();
      const pre = unit.startsWith("{{a (") ? "{{a " : "";
      const { faults } = templates.check(pre + (pre ? "(b " : unit).repeat(Math.floor(65_500 / unit.length)));
      expect(faults).toHaveLength(1);
      expect(performance.now() - start).toBeLessThan(15_000);
    },
  );

  const thousand = Array.from({ length: 1000 }, (_, n) => n);
  test.each([
    ["{{#each a}}{{#each ../a}}{{#each ../../a}}{{/each}}{{/each}}{{/each}}", { a: thousand }, /loops too often/],
    [
      "{{#each a}}{{#each @root.a}}{{@root.s}}{{/each}}{{/each}}",
      { a: thousand, s: "0123456789" },
      /loops too|longer than/,
    ],
    ["{{#each a}}{{@root.s}}{{/each}}", { a: thousand, s: "x".repeat(2000) }, /longer than 1048576/],
    ["{{#each a}}{{#if (json @root)}}{{/if}}{{/each}}", { a: thousand, s: "x".repeat(100_000) }, /loops too often/],
    ["{{#each a}}{{#if (join @root.e '')}}{{/if}}{{/each}}", { a: thousand, e: Array(100_000).fill("") }, /loops too/],
    [
      "{{#each a}}{{#if (eq @root.s @root.t)}}{{/if}}{{/each}}",
      { a: thousand, s: "y".repeat(1e6), t: "y".repeat(1e6) },
      /loops/,
    ],
    ["{{#each a}}{{#if (gt @root.s 1)}}{{/if}}{{/each}}", { a: thousand, s: "1".repeat(1e5) }, /loops too often/],
    ["{{#each a}}{{lookup @root @root.l}}{{/each}}", { a: thousand, l: Array(1e5).fill(1) }, /loops too often/],
  ])("%s stops early", (source, input, reason) => {
    const start = performance.now();
    expect(() => render(source, input)).toThrow(reason);
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  const thousands = (text: string) => text.repeat(3900);
  const names = Array.from({ length: 7800 }, (_, n) => `b${n}`).join(" ");
  test.each([
    ["block parameters", `{{#each a as |${names}|}}{{y}}{{/each}}`],
    ["block parameters of an outer block", `{{#with b as |${names}|}}{{#each ../a}}{{y}}{{/each}}{{/with}}`],
    ["parts of a path", `{{#each a}}{{b${thousands(".b")}}}{{/each}}`],
    ["parts after a block parameter", `{{#each a as |b|}}{{b${thousands(".b")}}}{{/each}}`],
    ["parts after @root", `{{#each a}}{{@root${thousands(".b")}}}{{/each}}`],
    ["levels of scopes", `{{#each a}}{{${thousands("../")}b}}{{/each}}`],
    ["levels of loops", `{{#each a}}{{@${thousands("../")}index}}{{/each}}`],
  ])("thousands of %s count as steps", (_, source) => {
    expect(templates.check(source).faults).toEqual([]);
    expect(() => render(source, { a: thousand, b: {} })).toThrow(/loops too often/);
  });

  test("usual paths cost one step", () => {
    const a = Array.from({ length: 33_000 }, () => ({ b: { c: "" } }));
    expect(render("{{#each a as |item n|}}{{item.b.c}}{{/each}}", { a })).toBe("");
  });

  test("an input nested too deeply to be serialized", () => {
    let deep: unknown[] = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => render("{{a}}", { a: deep })).toThrow(/nested too deeply/);
  });
});

describe("placeholders", () => {
  test.each([
    ["{{topic}} and {{user.name}} and {{topic}}", ["topic", "user.name"]],
    ["{{#each items}}{{name}}{{../title}}{{@index}}{{@root.end}}{{/each}}", ["items", "items.*.name", "title", "end"]],
    ["{{#with user}}{{name}}{{else}}{{guest}}{{/with}}", ["user", "guest", "user.name"]],
    ["{{#each items as |item key|}}{{item.a}}{{key}}{{b}}{{/each}}", ["items", "items.*.a", "items.*.b"]],
    ["{{#if (eq a.b 1)}}{{json c}}{{/if}}", ["a.b", "c"]],
    ["{{#each (lookup a b)}}{{c}}{{/each}}", ["a", "b"]],
    ["{{this}}{{.}}{{#each .}}{{this.x}}{{/each}}", ["*.x"]],
    ["{{[first name]}} {{'last name'}}", ["first name", "last name"]],
    ["no placeholder", []],
  ])("%s", (source, expected) => {
    expect(placesOf(source)).toEqual(expected);
  });
});
