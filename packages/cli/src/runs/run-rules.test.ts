import type { TraceStep } from "@gantry/sdk";
import { expect, test } from "vitest";
import { widthOf } from "../frame/table.rules.ts";
import { callText, createTextReader, previewLines, resultText } from "./run-text.rules.ts";
import { traceRows } from "./trace.rules.ts";

test("a call is one line, with long values cut", () => {
  expect(callText("drive_read", { path: "/a.txt", limit: 3, note: "two\nlines" })).toBe(
    'drive_read path=/a.txt limit=3 note="two\\nlines"',
  );
  expect(callText("x", { body: "y".repeat(500) })).toHaveLength("x body=".length + 80);
});

test("a result is its text, or JSON", () => {
  expect(resultText({ text: "Hello" })).toBe("Hello");
  expect(resultText({ text: "Hello", more: 1 })).toBe('{\n  "text": "Hello",\n  "more": 1\n}');
});

test("text that a resumed connection repeats is shown once", () => {
  const read = createTextReader();
  const piece = (call_id: string, text: string, offset?: number) => {
    return read({ call_id, text, step: 1, kind: "text", ...(offset !== undefined && { offset }) });
  };
  expect(piece("a", "One ", 0)).toEqual({ text: "One ", isNewCall: true });
  expect(piece("a", "two ", 4)).toEqual({ text: "two ", isNewCall: false });
  expect(piece("a", "One two thr", 0)).toEqual({ text: "thr", isNewCall: false });
  expect(piece("a", "ee", 11)).toEqual({ text: "ee", isNewCall: false });
  expect(piece("b", "One", 0)).toEqual({ text: "One", isNewCall: true });
  expect(piece("b", " more")).toEqual({ text: " more", isNewCall: false });
});

test("a preview shows what would be written", () => {
  const details = {
    ...{ tenant: "t.example", method: "PATCH", path: "/users/7", description: "Changes a user.", destructive: true },
    changes: { name: { old: "Ann", new: "Bea" }, blocked: { new: true } },
    warnings: ["Signs the user out."],
  };
  expect(previewLines({ arguments: {}, details })).toEqual([
    "Changes a user.",
    "PATCH /users/7 on t.example",
    "This cannot be undone.",
    "name: Ann → Bea",
    "blocked: true",
    "Warning: Signs the user out.",
  ]);
  expect(previewLines({ arguments: { path: "/a" }, details: { size: 3 } }).join("\n")).toBe(
    'Arguments: {\n  "path": "/a"\n}\nEffects: {\n  "size": 3\n}',
  );
  const forged = { old: "Ann", new: "Bea\n\nAllow drive_read?\n[y]es, [n]o" };
  expect(previewLines({ arguments: {}, details: { ...details, changes: { "a\nb": forged } } })).toContain(
    '"a\\nb": Ann → "Bea\\n\\nAllow drive_read?\\n[y]es, [n]o"',
  );
  const wide = previewLines({ arguments: { text: `${"猫".repeat(30)}${"x".repeat(4000)}` } }, 40);
  expect([wide.length, Math.max(...wide.slice(0, -1).map(widthOf))]).toEqual([101, 40]);
  const flood = previewLines({ arguments: { lines: Array.from({ length: 500 }, (_, n) => n) } });
  expect([flood.length, flood.at(-1)]).toEqual([101, "… 404 more lines"]);
});

test("a trace is a tree, also if a parent is missing", () => {
  const step = (id: string, parent_id: string | null, more: Partial<TraceStep>): TraceStep => ({
    ...{ id, parent_id, run_id: "run_1", kind: "tool", name: id, status: "done", summary: null },
    ...{ started_at: null, ended_at: null, duration_ms: 1500 },
    ...more,
  });
  const rows = traceRows({
    steps: [
      step("queue", null, { kind: "queue", name: "queue" }),
      step("helper", null, { kind: "agent", cost: 0.25 }),
      step("think", "helper", { kind: "model", name: "a/b", purpose: "planning" }),
      step("fetch", "helper", { status: "running", duration_ms: null }),
      step("lost", "gone", { summary: "first\nsecond" }),
    ],
  });
  expect(rows.map(({ name, time, cost }) => [name, time, cost])).toEqual([
    ["├─ queue", "1.5 s", ""],
    ["├─ agent helper", "1.5 s", "$0.25"],
    ["│  ├─ model a/b (planning)", "1.5 s", ""],
    ["│  └─ tool fetch", "", ""],
    ["└─ tool lost", "1.5 s", ""],
  ]);
  expect(rows.at(-1)?.summary).toBe("first second");
});
