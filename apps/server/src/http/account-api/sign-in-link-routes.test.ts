import { signInLinkRecord } from "@gantry/wire";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AccountsUnderTest, accountsUnderTest, operatorKey } from "../../../test/support/account-api.ts";

let site: AccountsUnderTest;
let lou: string;

beforeAll(async () => {
  site = await accountsUnderTest();
  lou = await site.newUser("lou");
});
afterAll(() => site.close());

const make = (key: string, body?: unknown) => site.call("POST", "/api/v2/sign-in-links", { key, body });

async function whoSignsIn(url: string): Promise<string> {
  const token = new URL(url).hash.slice(1);
  return (await site.call("POST", "/console/api/session", { body: { token } })).body.username;
}

it("201: for the caller, with the token in the fragment", async () => {
  for (const body of [undefined, {}, { username: "lou" }]) {
    const made = await make(lou, body);
    expect([made.status, made.headers["cache-control"]]).toEqual([201, "no-store"]);
    const { url, expires_at } = signInLinkRecord.parse(made.body);
    expect(url).toMatch(/^http:\/\/localhost(:80)?\/console\/sign-in#[\w-]{43}$/);
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 900_000)).toBeLessThan(10_000);
    expect(await whoSignsIn(url)).toBe("lou");
  }
});

it("201: for another user by an admin", async () => {
  const made = await make(operatorKey, { username: "lou" });
  expect(made.status).toBe(201);
  expect(await whoSignsIn(made.body.url)).toBe("lou");
});

it("401: without a key", async () => {
  expect((await site.call("POST", "/api/v2/sign-in-links", { body: {} })).status).toBe(401);
});

it("403: a user for another user, existing or not", async () => {
  for (const username of ["admin", "unknown-user", "no name"]) expect((await make(lou, { username })).status).toBe(403);
});

it.each([
  ["a list of models", { models: ["gantry/image"] }],
  ["a monthly limit", { monthly_limit: 5 }],
  ["an end", { expires_at: new Date(Date.now() + 3_600_000).toISOString() }],
])("403: with a key that has %s", async (_what, limits) => {
  const { body } = await site.call("POST", "/api/v2/keys", { key: lou, body: limits });
  expect((await make(body.key)).status).toBe(403);
});

it("403: for another user with an admin's key that is narrowed", async () => {
  const { body } = await site.call("POST", "/api/v2/keys", { key: operatorKey, body: { monthly_limit: 5 } });
  expect((await make(body.key, { username: "lou" })).status).toBe(403);
});

it("404: an unknown user", async () => {
  for (const username of ["unknown-user", "no name", "gantry", ""]) {
    expect((await make(operatorKey, { username })).status, username).toBe(404);
  }
});

it.each([{ username: 1 }, { user: "lou" }, []])("422: %j", async (body) => {
  expect((await make(operatorKey, body)).status).toBe(422);
});
