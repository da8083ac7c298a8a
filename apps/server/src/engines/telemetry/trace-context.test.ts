import { expect, it } from "vitest";
import { formatTraceparent, newSpanId, newTraceId, parseTraceparent } from "./trace-context.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const span = "00f067aa0ba902b7";

it.each([
  [`00-${trace}-${span}-01`, true],
  [`00-${trace}-${span}-00`, false],
  [`00-${trace}-${span}-03`, true],
  // A later version may have more fields.
  [`cc-${trace}-${span}-01-more`, true],
])("reads %s", (header, sampled) => {
  expect(parseTraceparent(header, "a=1")).toEqual({ traceId: trace, spanId: span, sampled, state: "a=1" });
});

it.each([
  undefined,
  null,
  "",
  "rubbish",
  `00-${trace}-${span}`,
  `00-${trace}-${span}-01-more`,
  `ff-${trace}-${span}-01`,
  `00-${"0".repeat(32)}-${span}-01`,
  `00-${trace}-${"0".repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${span}-01`,
])("refuses %s", (header) => expect(parseTraceparent(header)).toBeUndefined());

it("writes what it reads, and drops a state that is too long", () => {
  const header = `00-${trace}-${span}-01`;
  const context = parseTraceparent(header, "x".repeat(513));
  expect(context && formatTraceparent(context)).toBe(header);
  expect(context?.state).toBeUndefined();
});

it("creates unique ids", () => {
  const ids = Array.from({ length: 5000 }, newSpanId);
  expect(new Set(ids).size).toBe(5000);
  expect(ids.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true);
  expect(newTraceId()).toMatch(/^[0-9a-f]{32}$/);
});
