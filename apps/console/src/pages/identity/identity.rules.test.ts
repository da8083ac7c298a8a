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

describe("the list of actions", () => {
  const all = [
    action("idp_users_list", "Users"),
    action("idp_role_create", "Roles", { kind: "write", allowed_by_token: false }),
    action("idp_user_delete", "Users", { kind: "write", allowed_by_token: true }),
  ];
  const names = (filter: Partial<Parameters<typeof groupedActions>[1]>) =>
    groupedActions(all, { words: "", kind: "all", allowedOnly: false, ...filter }).map(
      ({ name, actions }) => `${name}: ${actions.map((one) => one.name).join(" ")}`,
    );

  it("is grouped by object", () => {
    expect(names({})).toEqual(["Users: idp_users_list idp_user_delete", "Roles: idp_role_create"]);
  });

  it("is searched by all words, in any case", () => {
    expect(names({ words: " Delete  USER " })).toEqual(["Users: idp_user_delete"]);
    expect(names({ words: "nothing of it" })).toEqual([]);
  });

  it("leaves out the other kind, and what the token does not allow", () => {
    expect(names({ kind: "write" })).toEqual(["Roles: idp_role_create", "Users: idp_user_delete"]);
    expect(names({ allowedOnly: true })).toEqual(["Users: idp_users_list idp_user_delete"]);
  });

  it("tells what an action does from what it answers", () => {
    expect(describedAction("Adds a user. Answer: 201: user.")).toEqual({ does: "Adds a user.", answers: "201: user." });
    expect(describedAction("Adds a role.")).toEqual({ does: "Adds a role.", answers: undefined });
  });
});

describe("the form of an action", () => {
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

  it("asks for each argument in the way that suits it, the required ones first", () => {
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
    expect(fields.find(({ name }) => name === "roles")?.hint).toBe("Ids. One a line.");
    expect(takesMore).toBe(true);
    expect(actionForm({ properties: { a: { type: "string" } } }).takesMore).toBe(false);
  });

  it("reads what was typed, and leaves out what was not", () => {
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

  it("says at its field what cannot be read", () => {
    expect(readForm(fields, { page: "many", metadata: "{", [moreField]: "[]" }).faults).toEqual({
      id: "This field is required",
      page: "Must be a number",
      metadata: "This is no JSON",
      [moreField]: "Must be a JSON object: { … }",
    });
  });
});

describe("the secret that an action makes", () => {
  it("is taken out of the answer", () => {
    expect(splitSecret("idp_client_create", { client_id: "a", client_secret: "s3" })).toEqual({
      result: { client_id: "a", client_secret: "[shown once]" },
      secret: "s3",
    });
  });

  it("is none in any other answer", () => {
    const answer = { client_secret: "[hidden]" };
    expect(splitSecret("idp_client_create", answer)).toEqual({ result: answer, secret: undefined });
    expect(splitSecret("idp_client_get", { client_secret: "x" }).secret).toBeUndefined();
    expect(splitSecret("idp_client_create", null)).toEqual({ result: null, secret: undefined });
  });
});

describe("the preview of a write", () => {
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

  it("is what the service says would be sent", () => {
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

  it("is none of the details of another tool", () => {
    expect(writePreviewOf(undefined)).toBeUndefined();
    expect(writePreviewOf({ path: "/report.md" })).toBeUndefined();
  });

  it("is none of another failure", () => {
    expect(previewIn(refusal("conflict", {}))).toBeUndefined();
    expect(previewIn(new Error("no"))).toBeUndefined();
  });
});
