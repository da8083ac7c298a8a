import type { ToolBinding } from "@gantry/sdk";
import { expect, test } from "vitest";
import { asTool, settingFields, withSetting } from "./tool-settings.rules.ts";

const settings = {
  type: "object",
  properties: { provider: { type: "string", enum: ["brave", "tavily"] }, secret: { type: "string" } },
};
const [provider, secret] = settingFields(settings);
const plain: ToolBinding = { type: "tool", id: "web_search" };

test("settings become arguments of the binding, and disappear with it", () => {
  if (!provider || !secret) throw new Error("the fields are missing");
  const set = withSetting(withSetting(plain, provider, "brave"), secret, "search-key");
  expect(asTool(set)).toEqual({
    type: "tool",
    id: "web_search",
    arguments: { provider: "brave", secret: "search-key" },
  });
  expect(asTool(withSetting(withSetting(set, secret, ""), provider, ""))).toBe("web_search");
});

test("other arguments and the confirmation stay", () => {
  if (!provider) throw new Error("the field is missing");
  const before: ToolBinding = { ...plain, confirm: "always", arguments: { count: 3 } };
  expect(withSetting(before, provider, "tavily").arguments).toEqual({ count: 3, provider: "tavily" });
  expect(asTool(withSetting(before, provider, ""))).toEqual(before);
});
