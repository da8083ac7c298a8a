import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";

/** A key can be confined only to models that its owner can call. */
let gantry: GantryNode;
let ann: string;
let bob: string;
beforeAll(async () => {
  gantry = await startGantry();
  [ann, bob] = [await gantry.newUser("ann"), await gantry.newUser("bob")];
  const json = {
    title: "Private",
    kind: "other",
    input: { type: "object", properties: {} },
    output: { type: "object", properties: { output: { type: "string" } } },
    backend: { type: "cog", url: "https://up.example" },
  };
  const put = await gantry.call("PUT", "/api/v1/ann/private", { key: ann, json });
  expect(put.status, put.text).toBe(201);
});
afterAll(() => gantry.close());

const make = (key: string, models: string[]) => gantry.call("POST", "/api/v2/keys", { key, json: { models } });
const makeFor = (username: string, models: string[]) =>
  gantry.call("POST", `/api/v2/admin/users/${username}/keys`, { json: { models } });
const refused = ({ status, body }: Answer) => [status, body.detail?.map((one: { input: string }) => one.input)];

test("invalid names are all refused by name", async () => {
  const answer = await make(ann, ["gantry/image", "gantry/imgae", "ann/nothing", "no-such-user/x"]);
  expect(refused(answer), answer.text).toEqual([422, ["gantry/imgae", "ann/nothing", "no-such-user/x"]]);
  expect(answer.body.detail[0]).toMatchObject({
    loc: ["body", "models", 1],
    type: "value_error",
    msg: "Model gantry/imgae does not exist, or the owner of the key may not call it",
  });
  expect((await gantry.call("GET", "/api/v2/keys", { key: ann })).body.total_count).toBe(1);
});

test("a fault names its position in the body, and duplicates are stored once", async () => {
  const twice = ["gantry/image", "gantry/image"];
  const answer = await make(bob, [...twice, "gantry/imgae"]);
  expect([answer.status, answer.body.detail[0].loc], answer.text).toEqual([422, ["body", "models", 2]]);
  const made = await make(bob, twice);
  expect([made.status, made.body.models], made.text).toEqual([201, ["gantry/image"]]);
});

test("another user's private model is reported as unknown, also to an admin", async () => {
  const shown = async (by: (models: string[]) => Promise<Answer>) => {
    const [there, missing] = [await by(["ann/private"]), await by(["ann/missing"])];
    expect(there.status).toBe(422);
    expect(there.text.replaceAll("ann/private", "ann/missing")).toBe(missing.text);
  };
  await shown((models) => make(bob, models));
  await shown((models) => make(gantry.adminKey, models));
  await shown((models) => makeFor("bob", models));
});

test("models that the owner can call are accepted, also from an admin", async () => {
  expect((await make(ann, ["ann/private", "gantry/text"])).status).toBe(201);
  expect((await makeFor("ann", ["ann/private"])).status).toBe(201);
  expect((await makeFor("unknown", ["ann/private"])).status).toBe(404);
});
