import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let beside: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
  beside = await startGantry({ beside: gantry });
});
afterAll(async () => {
  await beside.close();
  await gantry.close();
});

const address = "/console/api/session";
const tokenOf = (url: string) => new URL(url).hash.slice(1);

async function newToken(node = gantry): Promise<string> {
  const made = await node.call("POST", "/api/v2/sign-in-links", { json: {} });
  expect(made.status, made.text).toBe(201);
  return tokenOf(made.body.url);
}

/** Sends requests like the console: with the cookie and without a key. */
async function signIn(node: GantryNode, json: object) {
  const answer = await node.call("POST", address, { key: "", json });
  const cookie = answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  return { answer, asConsole: { key: "", headers: { cookie, "x-gantry-console": "1" } }, asAnyPage: { cookie } };
}

test("the first start creates an admin sign-in link for a day; later starts do not", async () => {
  expect(beside.gantry.firstSignInUrl).toBeNull();
  const url = gantry.gantry.firstSignInUrl?.(gantry.url) ?? "";
  expect(url.startsWith(`${gantry.url}/console/sign-in#`)).toBe(true);
  const [row] = await gantry.database.sql<{ hours: number }[]>`
    select extract(epoch from expires_at - created_at)::int / 3600 as hours from sign_in_links`;
  expect(row?.hours).toBe(24);
  const { answer } = await signIn(gantry, { token: tokenOf(url) });
  expect([answer.status, answer.body.username]).toEqual([200, "admin"]);
  expect(gantry.logged()).not.toContain(tokenOf(url));
});

test("a session reaches every API with the console's header, and none without", async () => {
  const { asConsole, asAnyPage } = await signIn(gantry, { token: await newToken() });
  const text = { form: { prompt: "What is 12 * 34?" } };
  const calls = [
    ["GET", "/api/v2/me", {}],
    ["GET", address, {}],
    ["GET", "/v1/agents", {}],
    ["GET", "/api/v1/gantry/text", {}],
    ["GET", "/metrics", {}],
    ["POST", "/api/v1/gantry/text/predict", text],
    ["POST", "/api/v1/gantry/text/predict/stream/", text],
    ["POST", "/mcp", { json: { jsonrpc: "2.0", id: 1, method: "tools/list" } }],
  ] as const;
  for (const [method, path, body] of calls) {
    const accept = { accept: "application/json, text/event-stream" };
    const headers = { ...asConsole.headers, ...(path === "/mcp" && accept) };
    const answer = await gantry.call(method, path, { ...body, key: "", headers });
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
    if (path.includes("stream")) expect(answer.text).toContain("408");
    const bare = await gantry.call(method, path, { ...body, key: "", headers: asAnyPage });
    expect(bare.status, path).toBe(401);
  }
});

test("a session can read a run's events until it ends; the run continues", async () => {
  const { asConsole } = await signIn(gantry, { token: await newToken() });
  const agent = await gantry.call("POST", "/v1/agents", {
    ...asConsole,
    json: {
      name: "Asks",
      goal: "Run the program with run_javascript.",
      tools: [{ type: "tool", id: "run_javascript", confirm: "always" }],
      input_schema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
    },
  });
  expect(agent.status, agent.text).toBe(201);
  await gantry.call("POST", `/v1/agents/${agent.body.id}/publish`, asConsole);
  const run = await gantry.call("POST", `/v1/agents/${agent.body.id}/runs`, {
    ...asConsole,
    json: { input: { code: "6 * 7" } },
  });
  expect(run.status, run.text).toBe(201);
  const events = await beside.fetch("GET", `/v1/runs/${run.body.id}/events`, asConsole);
  expect(events.status).toBe(200);
  const whole = events.text();
  expect((await gantry.call("DELETE", address, asConsole)).status).toBe(204);
  expect(await whole).not.toContain("event: completed");

  // The run continues, and another key can answer its confirmation.
  const questions = `/v1/runs/${run.body.id}/confirmations`;
  const asked = () => gantry.call("GET", questions).then(({ body }) => body.confirmations);
  await expect.poll(asked, { timeout: 10_000 }).toHaveLength(1);
  const [question] = await asked();
  const answered = await gantry.call("POST", `${questions}/${question.id}`, { json: { approve: true } });
  expect(answered.status, answered.text).toBe(200);
  const ended = await gantry.call("GET", `/v1/runs/${run.body.id}?wait=15`);
  expect(ended.body.status, ended.text).toBe("done");
});

test("links and sessions work on all servers, and links are used once", async () => {
  const token = await newToken(gantry);
  const nodes = [gantry, beside, gantry, beside, gantry, beside];
  const tries = await Promise.all(nodes.map((node) => signIn(node, { token })));
  expect(tries.map(({ answer }) => answer.status).sort()).toEqual([200, 401, 401, 401, 401, 401]);
  const session = tries.find(({ answer }) => answer.status === 200)?.asConsole;
  for (const node of [gantry, beside]) expect((await node.call("GET", "/api/v2/me", session)).status).toBe(200);
  expect((await beside.call("DELETE", address, session)).status).toBe(204);
  await expect.poll(async () => (await gantry.call("GET", "/api/v2/me", session)).status).toBe(401);
});

test("a session opened with a key acts as that key, and signing out keeps the key", async () => {
  const key = await gantry.newUser("narrow", { key: { models: ["gantry/text"] } });
  const { asConsole } = await signIn(gantry, { key });
  const form = { prompt: "hi", size: "1280x720" };
  expect((await gantry.call("POST", "/api/v1/gantry/image/predict", { ...asConsole, form })).status).toBe(403);
  expect((await gantry.call("DELETE", address, asConsole)).status).toBe(204);
  expect((await gantry.call("GET", "/api/v2/me", { key })).status).toBe(200);
});

test("CORS does not allow other sites to send the header or the cookie", async () => {
  const paths = ["/", address, "/api/v2/me", "/v1/agents", "/api/v1/gantry/text/predict", "/mcp", "/metrics", "/s3/a"];
  for (const path of paths) {
    const answer = await gantry.fetch("OPTIONS", path, {
      key: "",
      headers: {
        origin: "https://evil.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "x-gantry-console",
      },
    });
    const told = [...answer.headers.keys()].filter((name) => name.startsWith("access-control-allow"));
    // Links to files are for all sites, because only their signature opens them.
    expect(path === "/s3/a" ? told.includes("access-control-allow-credentials") : told.length > 0, path).toBe(false);
    await answer.arrayBuffer();
  }
});

test("with a TLS public address the cookie is secure, and its pages can sign in", async () => {
  const publicUrl = "https://gantry.example";
  const node = await startGantry({ beside: gantry, env: { GANTRY_PUBLIC_URL: publicUrl } });
  try {
    const made = await node.call("POST", "/api/v2/sign-in-links", { json: {} });
    expect(made.body.url.startsWith(`${publicUrl}/console/sign-in#`)).toBe(true);
    const headers = { origin: publicUrl };
    const answer = await node.call("POST", address, { key: "", headers, json: { token: tokenOf(made.body.url) } });
    expect([answer.status, answer.headers.get("set-cookie")]).toEqual([200, expect.stringMatching(/; Secure$/)]);
  } finally {
    await node.close();
  }
});
