import { GantryError, type IdpActionRecord } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { actionForm, moreField, readForm } from "./action-form.rules.ts";
import { describedAction, groupedActions } from "./action-list.rules.ts";
import { splitSecret } from "./one-time-secret.rules.ts";
import { previewIn, writePreviewOf } from "./write-preview.rules.ts";

const action = (name: string, group: string, more: Partial<IdpActionRecord> = {}): IdpActionRecord => ({
  name,
  group,
  method: "GET",
  path: "/x",
  upstream: { method: "GET", path: "/x" },
  kind: "read",
  description: "Reads something.",
  parameters: {},
  scopes: [],
  destructive: false,
  deprecated: false,
  paginated: "none",
  allowed_by_token: null,
  ...more,
});

describe("action list", () => {
  const all = [
    action("idp_users_list", "Users"),
    action("idp_role_create", "Roles", { kind: "write", allowed_by_token: false }),
    action("idp_user_delete", "Users", { kind: "write", allowed_by_token: true }),
  ];
  const names = (filter: Partial<Parameters<typeof groupedActions>[1]>) =>
    groupedActions(all, { text: "", kind: "all", allowedOnly: false, ...filter }).map(
      ({ name, actions }) => `${name}: ${actions.map((member) => member.name).join(" ")}`,
    );

  it("is grouped", () => {
    expect(names({})).toEqual(["Users: idp_users_list idp_user_delete", "Roles: idp_role_create"]);
  });

  it("matches all search terms, ignoring case", () => {
    expect(names({ text: " Delete  USER " })).toEqual(["Users: idp_user_delete"]);
    expect(names({ text: "no match" })).toEqual([]);
  });

  it("filters by type and by scopes of the token", () => {
    expect(names({ kind: "write" })).toEqual(["Roles: idp_role_create", "Users: idp_user_delete"]);
    expect(names({ allowedOnly: true })).toEqual(["Users: idp_users_list idp_user_delete"]);
  });

  it("separates the summary from the response", () => {
    expect(describedAction("Adds a user. Answer: 201: user.")).toEqual({
      summary: "Adds a user.",
      response: "201: user.",
    });
    expect(describedAction("Adds a role.")).toEqual({ summary: "Adds a role.", response: undefined });
  });
});

describe("action form", () => {
  const { fields, takesMore } = actionForm({
    required: ["id"],
    properties: {
      name: { type: ["string", "null"], description: "Name." },
      id: { type: "string" },
      roles: { type: "array", items: { type: "string" }, description: "Ids." },
      metadata: { type: "object" },
      blocked: { type: "boolean" },
      page: { type: "integer" },
      sort: { type: ["string", "null"], enum: ["up", "down", null] },
      password: { type: "string", writeOnly: true },
      script: { type: "string" },
      entries: { type: "array", items: { type: "object" } },
    },
  });

  it("has an input for each argument, required ones first", () => {
    expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      "id text",
      "name text",
      "roles lines",
      "metadata json",
      "blocked yes-no",
      "page number",
      "sort choice",
      "password secret",
      "script code",
      "entries json",
    ]);
    expect(fields.find(({ name }) => name === "sort")?.choices).toEqual(["up", "down"]);
    expect(fields.find(({ name }) => name === "roles")?.hint).toBe("Ids. One per line.");
    expect(takesMore).toBe(true);
    expect(actionForm({ properties: { a: { type: "string" } } }).takesMore).toBe(false);
  });

  it("parses entered text and leaves out empty fields", () => {
    const typed = {
      id: " auth0|ann ",
      name: "",
      roles: "one\n\n two \n",
      metadata: '{"plan":"pro"}',
      blocked: "false",
      page: "0",
      password: " with spaces ",
      [moreField]: '{"name": null}',
    };
    expect(readForm(fields, typed)).toEqual({
      values: {
        id: "auth0|ann",
        roles: ["one", "two"],
        metadata: { plan: "pro" },
        blocked: false,
        page: 0,
        password: " with spaces ",
        name: null,
      },
      faults: {},
    });
  });

  it("reports invalid values by field", () => {
    expect(readForm(fields, { page: "many", metadata: "{", [moreField]: "[]" }).faults).toEqual({
      id: "This field is required",
      page: "Must be a number",
      metadata: "Invalid JSON",
      [moreField]: "Must be a JSON object: { … }",
    });
  });
});

describe("one-time secret", () => {
  it("is removed from the response", () => {
    expect(splitSecret("idp_client_create", { client_id: "a", client_secret: "s3" })).toEqual({
      result: { client_id: "a", client_secret: "[shown once]" },
      secret: "s3",
    });
  });

  it("is undefined for other responses", () => {
    const response = { client_secret: "[hidden]" };
    expect(splitSecret("idp_client_create", response)).toEqual({ result: response, secret: undefined });
    expect(splitSecret("idp_client_get", { client_secret: "x" }).secret).toBeUndefined();
    expect(splitSecret("idp_client_create", null)).toEqual({ result: null, secret: undefined });
  });
});

describe("write preview", () => {
  const refusal = (type: string, details: Record<string, unknown>) =>
    new GantryError({
      status: 409,
      type,
      message: "",
      retryable: false,
      requestId: undefined,
      body: undefined,
      details,
    });

  it("shows what would be sent", () => {
    const details = {
      tenant: "t.example.com",
      method: "PATCH",
      path: "/roles/1",
      body: { name: "pilot" },
      destructive: false,
      changes: { name: { old: "master", new: "pilot" }, meta: { new: { a: 1 } } },
      warnings: ["The token expires soon"],
    };
    expect(previewIn(refusal("confirmation_required", details))).toEqual({
      ...details,
      description: undefined,
      changes: [
        { field: "name", old: "master", new: "pilot" },
        { field: "meta", old: undefined, new: '{\n  "a": 1\n}' },
      ],
    });
  });

  it("is undefined for details of other tools", () => {
    expect(writePreviewOf(undefined)).toBeUndefined();
    expect(writePreviewOf({ path: "/report.md" })).toBeUndefined();
  });

  it("is undefined for other errors", () => {
    expect(previewIn(refusal("conflict", {}))).toBeUndefined();
    expect(previewIn(new Error("no"))).toBeUndefined();
  });
});
