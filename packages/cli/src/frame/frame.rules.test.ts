import { expect, test, vi } from "vitest";
import type { Command } from "./command.ts";
import { closest } from "./distance.rules.ts";
import { Failure } from "./failure.ts";
import { ago, money, sizeOf, visible } from "./format.rules.ts";
import { main } from "./main.ts";
import { momentOf } from "./moment.rules.ts";
import { parse } from "./parse.rules.ts";
import { tableOf, widthOf } from "./table.rules.ts";

const command: Command = {
  name: "models put",
  group: "models",
  summary: "",
  arguments: [
    { name: "MODEL", meaning: "" },
    { name: "FILE", meaning: "", optional: true },
  ],
  options: {
    kind: { type: "text", meaning: "", choices: ["text", "image"] },
    limit: { type: "number", value: "COUNT", meaning: "" },
    yes: { type: "flag", short: "y", meaning: "" },
    tag: { type: "text", meaning: "", many: true },
  },
  examples: [],
  load: () => Promise.reject(new Error("not loaded")),
};

const refuse = async () => {
  throw new Failure("Upstream: \u001b]0;owned\u0007 \u001b[2J");
};

test("options and arguments are checked against the row", () => {
  const typed = parse(command, ["a/b", "--tag", "x", "-y", "--tag=--y", "--limit", "7", "--", "--file"]);
  expect([typed.words, typed.texts("tag"), typed.flag("yes"), typed.number("limit"), typed.text("kind")]).toEqual([
    ["a/b", "--file"],
    ["x", "--y"],
    true,
    7,
    undefined,
  ]);
  expect(() => typed.flag("json")).toThrow("has no option json");
  for (const [args, reason] of [
    [["a", "--knid", "text"], "Unknown option --knid. Did you mean --kind?"],
    [["a", "-x"], "Unknown option -x. See gantry help models put."],
    [["a", "--constructor=x"], "Unknown option --constructor."],
    [["a", "--kind", "video"], "Unknown value video of --kind. Use one of: text, image"],
    [["a", "--kind", "--yes"], "--kind needs a value: --kind VALUE"],
    [["a", "--limit", "many"], "--limit must be a whole number, not many."],
    [["a", "--limit", "1", "--limit", "2"], "Give --limit only once."],
    [["a", "--yes=no"], "--yes takes no value."],
    [["a", "b", "c"], "Unexpected argument c. Usage: gantry models put MODEL [FILE] [options]"],
    [[], "Usage: gantry models put MODEL [FILE] [options]"],
  ] as const) {
    expect(() => parse(command, args), args.join(" ")).toThrow(reason);
  }
});

test("a close word is suggested, a distant one is not", () => {
  const known = ["predict", "predictions", "status"];
  expect([closest("pedict", known), closest("sttaus", known), closest("backup", known)]).toEqual([
    "predict",
    "status",
    undefined,
  ]);
});

test("tables fit the terminal, and wide characters count twice", () => {
  const rows = [
    { name: "猫", text: "x".repeat(60), n: 5 },
    { name: "plain", text: "two\nlines", n: 1234 },
  ];
  const lines = tableOf(
    [
      { title: "name", value: (row) => row.name },
      { title: "text", value: (row) => row.text },
      { title: "n", value: (row) => row.n, align: "right" },
      { title: "none", value: () => null },
    ],
    rows,
    40,
  );
  expect(lines).toHaveLength(3);
  expect(lines.map(widthOf)).toEqual([40, 40, 40]);
  expect(lines[1]).toContain("…");
  expect(lines.join("\n")).not.toContain("NONE");
});

test("text of others cannot write escape sequences to the terminal", async () => {
  expect(visible("a\u001b[2Jb\u009bc\u202e\td\re\r\n")).toBe("a�[2Jb�c�\td�e\r\n");
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const failing: Command = { name: "fail", group: "help", summary: "", examples: [], load: async () => refuse };
  expect(await main([failing], ["fail"])).toBe(1);
  expect(said.mock.calls).toEqual([["Upstream: �]0;owned� �[2J"]]);
  said.mockRestore();
});

test("money, sizes and times read as in the console", () => {
  expect([money(0), money(0.03), money(0.000003), money(-1234.5)]).toEqual([
    "$0.00",
    "$0.03",
    "$0.000003",
    "-$1,234.50",
  ]);
  expect([sizeOf(0), sizeOf(1536), sizeOf(5 * 1024 ** 3)]).toEqual(["0 bytes", "1.5 kB", "5.0 GB"]);
  const now = Date.parse("2026-11-18T12:00:00Z");
  expect([ago("2026-11-18T11:58:00Z", now), ago("2026-11-21T12:00:00Z", now), ago(null)]).toEqual([
    "2 minutes ago",
    "in 3 days",
    "",
  ]);
  expect(momentOf("from", "12h", "ago", now).toISOString()).toBe("2026-11-18T00:00:00.000Z");
  expect(momentOf("expires", "1w", "ahead", now).toISOString()).toBe("2026-11-25T12:00:00.000Z");
  expect(() => momentOf("from", "yesterday", "ago")).toThrow("--from must be a time");
});
