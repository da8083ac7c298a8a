import { expect, test } from "vitest";
import { useDoorsPlatform } from "../../support/doors-platform.ts";

const page = "https://chat.example.org";
const platform = useDoorsPlatform({ GANTRY_CORS_ORIGINS: `${page}, http://localhost:3000` });
const json = { model: "gantry/text", messages: [{ role: "user", content: "Hi" }] };
const path = "/v1/chat/completions";

test("a preflight of an allowed origin allows the headers that clients send, without a key", async () => {
  const asked = "authorization,content-type,x-stainless-os,x-stainless-retry-count";
  const preflight = { "access-control-request-method": "POST", "access-control-request-headers": asked };
  for (const route of [path, "/v1/models", "/v1/models/gantry/text"]) {
    const { status, headers } = await platform.gantry.call("OPTIONS", route, {
      key: "",
      headers: { origin: page, ...preflight },
    });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toBe(page);
    expect(headers.get("access-control-allow-headers")).toBe(asked);
    expect(headers.get("access-control-allow-methods")).toContain("POST");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    expect(headers.get("vary")).toBe("origin");
  }
});

test("other origins get no permission", async () => {
  const origin = "https://evil.example.org";
  const preflight = await platform.gantry.call("OPTIONS", path, { key: "", headers: { origin } });
  expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  expect(preflight.headers.get("access-control-allow-headers")).toBeNull();
  const answer = await platform.gantry.call("POST", path, { json, headers: { origin } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  expect(answer.headers.get("vary")).toBe("origin");
});

test("answers, streams and errors are readable for the page, with their headers", async () => {
  const headers = { origin: page };
  const answers = [
    await platform.gantry.call("POST", path, { json, headers }),
    await platform.gantry.call("POST", path, { json: { ...json, stream: true }, headers }),
    await platform.gantry.call("POST", path, { json: { ...json, n: 2 }, headers }),
    await platform.gantry.call("POST", path, { json, headers, key: "wrong" }),
    await platform.gantry.call("POST", path, { json: { ...json, model: "a/b" }, headers }),
    await platform.gantry.call("GET", "/v1/models", { headers }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 401, 404, 200]);
  for (const answer of answers) {
    expect(answer.headers.get("access-control-allow-origin")).toBe(page);
    const exposed = answer.headers.get("access-control-expose-headers") ?? "";
    for (const name of ["x-gantry-prediction-id", "x-gantry-run-id", "x-request-id", "retry-after", "x-should-retry"])
      expect(exposed).toContain(name);
  }
});

test("routes of Gantry itself do not allow other origins", async () => {
  const { headers } = await platform.gantry.call("GET", "/api/v2/me", { headers: { origin: page } });
  expect(headers.get("access-control-allow-origin")).toBeNull();
});
