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

describe("new server", () => {
  it("trims values and leaves out empty authentication", () => {
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
    expect(newServer({ ...values, auth: "oauth", clientId: " my-client ", scope: " " }).auth).toEqual({
      type: "oauth",
      client_id: "my-client",
    });
  });
});

describe("change", () => {
  it("is undefined if nothing changed", () => {
    expect(changeOf(server, initialValues(server))).toBeUndefined();
    expect(changeOf({ ...server, auth: null }, initialValues({ ...server, auth: null }))).toBeUndefined();
  });

  it("contains only changed fields", () => {
    expect(changeOf(server, { ...initialValues(server), name: "rain" })).toEqual({ name: "rain" });
  });

  it("removes or replaces credentials", () => {
    expect(changeOf(server, { ...initialValues(server), auth: "none" })).toEqual({ auth: null });
    expect(changeOf(server, { ...initialValues(server), auth: "api_key", value: "12345678" })).toEqual({
      auth: { type: "api_key", header: "X-Key", value: "12345678" },
    });
  });
});
