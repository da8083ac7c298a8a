import type { ToolRecord } from "@gantry/sdk";
import { expect, test } from "vitest";
import { toolGroups } from "./tool-groups.rules.ts";

const tool = (id: string, description = "", kind: ToolRecord["kind"] = "read"): ToolRecord => ({
  id,
  description,
  kind,
  parameters: {},
});
const tools = [
  tool("http_request", "Sends one HTTP request", "write"),
  tool("web_search"),
  tool("run_javascript"),
  tool("ask"),
  tool("drive_read", "Reads a file"),
  tool("idp_users_list"),
  tool("idp_user_delete", "Removes a user", "write"),
  tool("idp_resource_server_get"),
  tool("idp_something_new"),
];

test("tools are grouped by prefix", () => {
  expect(toolGroups(tools, "").map(({ name, tools: of }) => [name, of.length])).toEqual([
    ["Web", 2],
    ["Code", 1],
    ["General", 1],
    ["Drives", 1],
    ["Users", 2],
    ["Resource servers", 1],
    ["Other", 1],
  ]);
});

test("every search term must match the name or the description", () => {
  const ids = (wanted: string) => toolGroups(tools, wanted).flatMap(({ tools: of }) => of.map(({ id }) => id));
  expect(ids("user REMOVES")).toEqual(["idp_user_delete"]);
  expect(ids("write")).toEqual(["http_request", "idp_user_delete"]);
  expect(ids("nothing like it")).toEqual([]);
});
