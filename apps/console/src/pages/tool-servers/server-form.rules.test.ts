import type { ToolServerRecord } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { changeOf, initialValues, newServer } from "./server-form.rules.ts";

const server: ToolServerRecord = {
  id: "mcp_1",
  name: "weather",
  url: "https://weather.example.com/mcp",
  connection_type: "sse",
  auth: { type: "api_key", header: "X-Key" },
  status: "connected",
  last_error: null,
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
};

describe("a new server", () => {
  it("has no auth where none is wanted, and no spaces around what was pasted", () => {
    const values = { ...initialValues(undefined), name: " weather ", url: " https://a.example/mcp\n" };
    expect(newServer(values)).toEqual({
      name: "weather",
      url: "https://a.example/mcp",
      connection_type: "streamable_http",
    });
    expect(newServer({ ...values, auth: "bearer", token: " secret \n" }).auth).toEqual({
      type: "bearer",
      token: "secret",
    });
  });
});

describe("a change", () => {
  it("is none where nothing differs: what is stored stays", () => {
    expect(changeOf(server, initialValues(server))).toBeUndefined();
    expect(changeOf({ ...server, auth: null }, initialValues({ ...server, auth: null }))).toBeUndefined();
  });

  it("has only what differs", () => {
    expect(changeOf(server, { ...initialValues(server), name: "rain" })).toEqual({ name: "rain" });
  });

  it("takes the credentials away, or replaces them", () => {
    expect(changeOf(server, { ...initialValues(server), auth: "none" })).toEqual({ auth: null });
    expect(changeOf(server, { ...initialValues(server), auth: "api_key", value: "12345678" })).toEqual({
      auth: { type: "api_key", header: "X-Key", value: "12345678" },
    });
  });
});
