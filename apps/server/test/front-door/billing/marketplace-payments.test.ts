import { describe, expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, ended } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const walletOf = async ({ key }: { key: string }) => {
  const { balance, reserved } = (await call("GET", "/api/v2/me", { key })).body;
  return { balance, reserved };
};
const onRules = { visibility: "public", goal: "Say hello", model: "gantry/rules" };

async function publishAt(agent: string, perRun: number, { key }: { key: string }): Promise<void> {
  await call("PATCH", `/v1/agents/${agent}`, { key, json: { pricing: { per_run: perRun } } });
  expect((await call("POST", `/v1/agents/${agent}/publish`, { key, json: {} })).status).toBe(200);
}

describe("a payment to another user", () => {
  test("is refused without funds, so two empty wallets cannot create money", async () => {
    const seller = await platform.newUser({ credit: 0 });
    const buyer = await platform.newUser({ credit: 0 });
    const golden = await makeAgent({ ...onRules, pricing: { per_run: 1_000_000 } }, seller.key);
    const refused = await run(golden, {}, buyer);
    expect(refused.status, refused.text).toBe(403);
    expect(refused.body.error).toMatchObject({
      type: "insufficient_funds",
      message: "Balance is $0; this run costs $1000000. Add credit or choose a cheaper agent.",
    });
    expect(await walletOf(seller)).toEqual({ balance: 0, reserved: 0 });
    expect(await walletOf(buyer)).toEqual({ balance: 0, reserved: 0 });
  });

  test("names the hold if it is the reason", async () => {
    const seller = await platform.newUser({ credit: 0 });
    const buyer = await platform.newUser({ credit: 0.05 });
    const agent = await makeAgent({ visibility: "public", pricing: { per_run: 0.03 }, goal: "Wait." }, seller.key);
    await platform.makeModel("free-of-charge", { pricing: {} });
    await call("PATCH", `/v1/agents/${agent}`, { key: seller.key, json: { model: "admin/free-of-charge" } });
    await publishAt(agent, 0.03, seller);
    const release = gate();
    platform.llm.script = () => release.promise.then(() => ({ text: "ok" }));
    const first = await start(agent, {}, buyer);
    await waitFor("the model to be called", () => platform.llm.open === 1);
    const refused = await run(agent, {}, buyer);
    expect(refused.body.error.message).toBe(
      "Balance is $0.05, of which $0.03 is reserved; this run costs $0.03. Add credit or choose a cheaper agent.",
    );
    release.open();
    expect((await ended(first, buyer.key)).status).toBe("done");
    expect(await walletOf(buyer)).toEqual({ balance: 0.02, reserved: 0 });
  });

  test("must fit the key's monthly limit in full", async () => {
    const seller = await platform.newUser({ credit: 0 });
    const buyer = await platform.newUser({ credit: 10, key: { monthly_limit: 0.4 } });
    const agent = await makeAgent({ ...onRules, pricing: { per_run: 0.25 } }, seller.key);
    expect((await run(agent, {}, buyer)).body.status).toBe("done");
    const refused = await run(agent, {}, buyer);
    expect(refused.status).toBe(403);
    expect(refused.body.error.message).toBe(
      "The API key may still spend $0.15 this month; this run costs $0.25. Use another key or choose a cheaper agent.",
    );
    expect(await walletOf(seller)).toEqual({ balance: 0.25, reserved: 0 });
  });

  test("may take the last cent, and running your own agent is free", async () => {
    const seller = await platform.newUser({ credit: 0 });
    const buyer = await platform.newUser({ credit: 0.25, key: { monthly_limit: 0.25 } });
    const agent = await makeAgent({ ...onRules, pricing: { per_run: 0.25 } }, seller.key);
    expect((await run(agent, {}, buyer)).body).toMatchObject({ status: "done", cost: 0.25 });
    expect(await walletOf(buyer)).toEqual({ balance: 0, reserved: 0 });
    expect((await run(agent, {}, seller)).body).toMatchObject({ status: "done", cost: 0 });
  });
});

describe("expected_price", () => {
  test("refuses a price that changed between quote and run, and names the new one", async () => {
    const seller = await platform.newUser({ credit: 0 });
    const buyer = await platform.newUser({ credit: 50 });
    const agent = await makeAgent({ ...onRules, pricing: { per_run: 0.01 } }, seller.key);
    const { pricing } = (await call("GET", `/v1/agents/${agent}`, buyer)).body;
    await publishAt(agent, 40, seller);
    const refused = await run(agent, { expected_price: pricing.per_run }, buyer);
    expect(refused.status).toBe(409);
    expect(refused.body.error).toMatchObject({
      type: "conflict",
      message: "The price of this agent is now $40, not $0.01. Confirm the new price and run the agent again.",
      details: { per_run: 40, expected_price: 0.01 },
    });
    expect(await walletOf(buyer)).toEqual({ balance: 50, reserved: 0 });
    expect((await run(agent, { expected_price: 40 }, buyer)).body).toMatchObject({ status: "done", cost: 40 });
    // A lower price is refused, too: the caller pays exactly what was shown.
    expect((await run(agent, { expected_price: 41 }, buyer)).status).toBe(409);
  });

  test("does not refuse a repeat accepted before the price changed", async () => {
    const seller = await platform.newUser({ credit: 0 });
    const buyer = await platform.newUser({ credit: 1 });
    const agent = await makeAgent({ ...onRules, pricing: { per_run: 0.25 } }, seller.key);
    const wanted = { expected_price: 0.25 };
    const sent = { ...buyer, headers: { "idempotency-key": "once" } };
    const first = await run(agent, wanted, sent);
    await publishAt(agent, 0.5, seller);
    const repeat = await run(agent, wanted, sent);
    expect(repeat.status, repeat.text).toBe(201);
    expect(repeat.body.id).toBe(first.body.id);
    expect(await walletOf(buyer)).toEqual({ balance: 0.75, reserved: 0 });
  });

  test("is ignored for your own agent, and an invalid value is named", async () => {
    const seller = await platform.newUser({ credit: 0 });
    const agent = await makeAgent({ ...onRules, pricing: { per_run: 0.25 } }, seller.key);
    expect((await run(agent, { expected_price: 0.25 }, seller)).body).toMatchObject({ status: "done", cost: 0 });
    for (const wrong of [-1, "1", null]) {
      const refused = await run(agent, { expected_price: wrong }, seller);
      expect(refused.status).toBe(400);
      expect(refused.body.error.details[0].loc).toEqual(["body", "expected_price"]);
    }
  });
});
