import type { AgentTool, ConfirmPolicy } from "@gantry/wire";
import { describe, expect, test } from "vitest";
import { asksForConfirmation, bindingAsks } from "./asks.rules.ts";
import { type ToolInfo, toolTable } from "./tools.ts";

const action = (id: string, kind: ToolInfo["kind"]): ToolInfo => ({ id, kind, description: "", parameters: {} });
const table = toolTable([action("idp_user_get", "read"), action("idp_user_delete", "write")]);
const info = (id: string): ToolInfo => {
  const found = table.get(id);
  if (!found) throw new Error(id);
  return found;
};

describe("a bound tool", () => {
  const policies: readonly (ConfirmPolicy | undefined)[] = [undefined, "always", "writes", "never"];
  test.each([
    ["idp_user_delete", [true, true, true, true]],
    ["idp_user_get", [false, true, false, false]],
    ["drive_delete", [true, true, true, false]],
    ["drive_write", [false, true, true, false]],
    ["drive_read", [false, true, false, false]],
    ["http_request", [false, true, true, false]],
  ])("%s asks by default, with always, writes and never: %j", (id, expected) => {
    const asks = policies.map((confirm) =>
      bindingAsks({ type: "tool", id, ...(confirm !== undefined && { confirm }) }, info(id)),
    );
    expect(asks).toEqual(expected);
    expect(bindingAsks(id, info(id))).toBe(expected[0]);
  });
});

describe("an agent", () => {
  const asks = (tools: AgentTool[], servers: { id: string; tools?: string[] }[] = []) =>
    asksForConfirmation({ tools, mcp_servers: servers }, table);

  test("without tools, or with tools that do not ask, does not ask", () => {
    expect(asks([])).toBe(false);
    expect(asks(["drive_read", "drive_write", "http_request", "idp_user_get", "run_javascript"])).toBe(false);
    expect(asks([{ type: "tool", id: "drive_delete", confirm: "never" }])).toBe(false);
  });

  test("asks when one of its tools does", () => {
    expect(asks(["drive_read", "drive_delete"])).toBe(true);
    expect(asks(["idp_user_delete"])).toBe(true);
    expect(asks(["drive_read", { type: "tool", id: "http_request", confirm: "writes" }])).toBe(true);
  });

  test("is taken to ask where that cannot be told", () => {
    expect(asks([{ type: "agent", agent_id: "agt_1" }])).toBe(true);
    expect(asks([], [{ id: "mcp_1", tools: [] }])).toBe(true);
    expect(asks(["a_tool_of_former_times"])).toBe(true);
  });
});
