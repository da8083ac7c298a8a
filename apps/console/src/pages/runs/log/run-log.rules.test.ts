import type { RunRecord } from "@gantry/sdk";
import { expect, test } from "vitest";
import { asLogged, childrenOfCalls, type LoggedEvent, logItems, secretIn } from "./run-log.rules.ts";

const at = "2030-01-01T00:00:00.000Z";
let last = 0;
const event = (type: string, data: object): LoggedEvent => ({ id: ++last, type, data, at }) as LoggedEvent;
const call = (tool: string, call_id: string | undefined, args: object = {}) =>
  event("tool_call", { tool, arguments: args, call_id });
const result = (tool: string, text: string, call_id?: string) => event("tool_result", { tool, result: text, call_id });

test("parallel calls get their own results in any order", () => {
  const items = logItems([call("a", "1"), call("a", "2"), result("a", "second", "2"), result("a", "first", "1")]);
  expect(items).toMatchObject([{ result: { text: "first" } }, { result: { text: "second" } }]);
});

test("without ids a result belongs to the first open call of its tool", () => {
  const items = logItems([call("a", undefined), call("b", undefined), result("b", "of b"), result("a", "of a")]);
  expect(items).toMatchObject([{ result: { text: "of a" } }, { result: { text: "of b" } }]);
});

test("a confirmation and its call are one item; a descendant's confirmation stays alone", () => {
  const asked = (confirmation_id: string, call_id: string) =>
    event("confirmation_required", { confirmation_id, tool: "a", arguments: {}, expires_at: at, call_id });
  const resolved = event("confirmation_resolved", {
    confirmation_id: "c1",
    approved: false,
    status: "denied",
    tool: "a",
    reason: "not now",
  });
  const items = logItems([
    asked("c1", "1"),
    asked("c2", "elsewhere"),
    resolved,
    call("a", "1"),
    result("a", "no", "1"),
  ]);
  expect(items).toMatchObject([
    { isCalled: true, confirmation: { resolution: { status: "denied", reason: "not now" } }, result: { text: "no" } },
    { isCalled: false, confirmation: { id: "c2" } },
  ]);
});

test("list entries read like stream events, and unknown types are left out", () => {
  const failed = asLogged({ type: "error", timestamp: at, error: { type: "timeout", message: "Too long" } }, 1);
  const done = asLogged({ type: "completed", timestamp: at, message: "in 3 steps" }, 2);
  expect(logItems([failed, event("of the future", {}), done])).toMatchObject([
    { kind: "failed", type: "timeout", message: "Too long" },
    { kind: "done" },
  ]);
});

test("a call is linked to the run with the same input", () => {
  const child = (id: string, input: object) => ({ id, input, created_at: at }) as RunRecord;
  const items = logItems([
    call("drive_list", "0", { x: 2 }),
    call("server__list", "0", { x: 2 }),
    call("a", "1", { x: 1, y: 2 }),
    call("a", "2", { x: 2 }),
  ]);
  const children = [child("run_2", { x: 2 }), child("run_1", { y: 2, x: 1 })];
  const found = childrenOfCalls(items, children, new Set(["drive_list"]));
  expect([...found.values()]).toEqual(["run_1", "run_2"]);
});

test("a secret is offered only at the end of a result", () => {
  const offered =
    "{}\n\nThe whole value of client_secret (it ends in ab12) is shown once, to the person who started the run: GET /v1/runs/run_1/secrets/sec_2";
  expect(secretIn(offered)).toEqual({ runId: "run_1", secretId: "sec_2", field: "client_secret" });
  expect(secretIn(`${offered}\nand more`)).toBeUndefined();
  expect(secretIn("GET /v1/runs/run_1/secrets/sec_2")).toBeUndefined();
});
