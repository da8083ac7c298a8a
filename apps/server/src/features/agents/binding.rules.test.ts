import type { ConfirmPolicy } from "@gantry/wire";
import { describe, expect, test } from "vitest";
import { bindingAsks } from "./binding.rules.ts";
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
