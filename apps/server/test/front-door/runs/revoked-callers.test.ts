import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmAnswer, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, start, ended } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const asked = () => platform.llm.requests;

let far: Server;
const arrived: string[] = [];
beforeAll(async () => {
  far = createServer((request, response) => {
    arrived.push(`${request.method} ${request.url}`);
    response.end("ok");
  });
  await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
});
afterAll(() => far.close());
beforeEach(() => {
  arrived.length = 0;
});
const post = (path: string) => {
  const url = `http://127.0.0.1:${(far.address() as AddressInfo).port}${path}`;
  return { name: "http_request", args: { method: "POST", url, body: "x" } };
};
const noLonger = { type: "internal", message: "The API key that started the run is no longer valid" };

/** A user with two keys: one to start runs, and one to read them. */
async function newPerson(key: object = {}) {
  const { name, key: used } = await platform.newUser({ key });
  const path = `/api/v2/admin/users/${name}/keys`;
  const other: string = (await call("POST", path, { json: {} })).body.key;
  const { results } = (await call("GET", "/api/v2/keys", { key: other })).body;
  const usedId: string = results.find((one: { public: string }) => used.includes(one.public)).id;
  const setDisabled = async (disabled: boolean) => {
    const changed = await call("PATCH", `/api/v2/admin/users/${name}`, { json: { disabled } });
    expect(changed.status, changed.text).toBe(200);
  };
  const revoke = async () => {
    expect((await call("DELETE", `/api/v2/keys/${usedId}`, { key: other })).status).toBe(204);
  };
  return { name, used, other, revoke, setDisabled };
}

/** The model waits for the gate, makes these calls, and is done. */
function thenCalls(...calls: NonNullable<Extract<LlmAnswer, { calls?: unknown }>["calls"]>) {
  const held = gate();
  platform.llm.script = async (request) => {
    if (toolResults(request).length > 0) return { text: "done" };
    await held.promise;
    return { calls };
  };
  return held;
}

describe("after the caller loses access, its run sends and writes nothing", () => {
  test("of a disabled user, for all kinds of calls", async () => {
    const person = await newPerson();
    const drive = (await call("POST", "/v1/drives", { key: person.other, json: { name: "notes" } })).body.id;
    const child = await makeAgent({ goal: "Child." }, person.other);
    const tools = ["http_request", "drive_write", { type: "agent", agent_id: child, name: "below" }];
    const agent = await makeAgent({ tools, drives: [drive] }, person.other);
    const write = { name: "drive_write", args: { path: "/a.txt", content: "late" } };
    const held = thenCalls(post("/write"), write, { name: "below", args: {} });
    const id = await start(agent, {}, { key: person.used });
    await waitFor("the model to be asked", () => asked().length === 1);
    await person.setDisabled(true);
    held.open();
    await waitFor("the run to end", async () => {
      const [row] = await platform.gantry.database
        .sql`select 1 from runs where id = ${id} and completed_at is not null`;
      return row !== undefined;
    });
    await person.setDisabled(false);
    expect(await ended(id, person.other)).toMatchObject({ status: "error", error: noLonger });
    expect(arrived).toEqual([]);
    expect((await call("GET", `/v1/drives/${drive}/items`, { key: person.other })).body.items).toEqual([]);
    expect((await call("GET", `/v1/runs?parent_run_id=${id}`, { key: person.other })).body.runs).toEqual([]);
    // Earlier model calls are charged and appear in the run.
    expect((await platform.read(id, person.other)).cost).toBeGreaterThan(0);
    expect(asked()).toHaveLength(1);
  });

  test("of a key that was revoked", async () => {
    const person = await newPerson();
    const agent = await makeAgent({ tools: ["http_request"] }, person.other);
    const held = thenCalls(post("/revoked"));
    const id = await start(agent, {}, { key: person.used });
    await waitFor("the model to be asked", () => asked().length === 1);
    await person.revoke();
    held.open();
    expect(await ended(id, person.other)).toMatchObject({ status: "error", error: noLonger });
    expect(arrived).toEqual([]);
  });

  test("of a key revoked before a confirmation, which is not created", async () => {
    const person = await newPerson();
    const tools = [{ type: "tool", id: "http_request", confirm: "always" }];
    const agent = await makeAgent({ tools }, person.other);
    const held = thenCalls(post("/never"));
    const id = await start(agent, {}, { key: person.used });
    await waitFor("the model to be asked", () => asked().length === 1);
    await person.revoke();
    held.open();
    const seen = await ended(id, person.other);
    expect(seen).toMatchObject({ status: "error", error: noLonger });
    expect(seen.cost).toBeGreaterThan(0);
    const { confirmations } = (await call("GET", `/v1/runs/${id}/confirmations`, { key: person.other })).body;
    expect(confirmations).toEqual([]);
  });

  test.each(["revoked", "expired"])("of a key %s before its confirmation was answered", async (how) => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const person = await newPerson(how === "expired" ? { expires_at } : {});
    const agent = await makeAgent({ tools: [{ type: "tool", id: "http_request", confirm: "always" }] }, person.other);
    thenCalls(post(`/${how}`)).open();
    const id = await start(agent, {}, { key: person.used });
    const path = `/v1/runs/${id}/confirmations`;
    await waitFor("the question", async () => {
      const { phase } = await platform.read(id, person.other);
      return phase === "awaiting_confirmation";
    });
    if (how === "revoked") await person.revoke();
    else await platform.gantry.database.sql`update api_keys set expires_at = now() where expires_at is not null`;
    const [question] = (await call("GET", path, { key: person.other })).body.confirmations;
    const answer = await call("POST", `${path}/${question.id}`, { key: person.other, json: { approve: true } });
    expect(answer.status, answer.text).toBe(200);
    expect(await ended(id, person.other)).toMatchObject({ status: "error", error: noLonger });
    expect(arrived).toEqual([]);
  });

  test("a rotated key keeps its run working", async () => {
    const person = await newPerson();
    const agent = await makeAgent({ tools: ["http_request"] }, person.other);
    const held = thenCalls(post("/rotated"));
    const id = await start(agent, {}, { key: person.used });
    await waitFor("the model to be asked", () => asked().length === 1);
    const { results } = (await call("GET", "/api/v2/keys", { key: person.other })).body;
    const { id: keyId } = results.find((one: { public: string }) => person.used.includes(one.public));
    await call("POST", `/api/v2/keys/${keyId}/rotate`, { key: person.other, json: {} });
    held.open();
    expect(await ended(id, person.other)).toMatchObject({ status: "done" });
    expect(arrived).toEqual(["POST /rotated"]);
  });
});
