import { expect, test } from "vitest";
import { useRunsWithTenant } from "../../support/runs-with-tenant.ts";
import { inTurn, type LlmAnswer } from "../../support/scripted-llm.ts";

const { t, tenant } = await useRunsWithTenant();

/** Many lines, so that it grows in JSON. */
const codeOf = (length: number) => 'const a = "b";\n'.repeat(length).slice(0, length);
const call = (name: string, args: object = {}): LlmAnswer => ({ calls: [{ name, args }] });
const tools = ["idp_actions_list", "idp_action_get", "idp_action_update"];
const writes = () => tenant.seen.filter(({ method }) => method !== "GET");

function keep(action: object): void {
  tenant.state.collections.get("actions/actions")?.items.splice(0, 1, { id: "act_1", name: "enrich", ...action });
}

/** The action as the model sees it in the list and alone. */
async function readings(): Promise<{ listed: string; got: Record<string, unknown> }> {
  t.llm.script = inTurn(call("idp_actions_list"), call("idp_action_get", { id: "act_1" }), { text: "done" });
  const done = await t.run(await t.makeAgent({ tools, context_compression: false }));
  expect(done.body, done.text).toMatchObject({ status: "done" });
  const [list = "", single = ""] = t.told(2);
  expect(Buffer.byteLength(single)).toBeLessThanOrEqual(65_536);
  return { listed: JSON.parse(list).result.actions[0].code, got: JSON.parse(single).result };
}

test("a text truncated in a list can be read whole in a run, edited and written back", async () => {
  const code = codeOf(30_000);
  keep({ code });
  const { listed, got } = await readings();
  expect(listed).toMatch(/… \[cut: 30000 characters in all; idp_action_get reads it whole\]$/);
  expect(got.code).toBe(code);
  const edited = `${code}// more`;
  t.llm.script = inTurn(call("idp_action_update", { id: "act_1", code: edited }), { text: "done" });
  const { runId, asked } = await t.runUntilAsked(await t.makeAgent({ tools }));
  await t.answer(runId, asked.id, { approve: true });
  expect(await t.ended(runId)).toMatchObject({ status: "done" });
  expect(writes()).toMatchObject([{ method: "PATCH", body: { code: edited } }]);
});

test("the code is whole although the deployed version repeats it", async () => {
  const code = codeOf(30_000);
  keep({ code, deployed_version: { id: "ver_1", code } });
  const { listed, got } = await readings();
  expect(listed).toContain("idp_action_get reads it whole]");
  expect(got.code).toBe(code);
  expect(got.deployed_version).toMatchObject({ code: expect.stringMatching(/must not be written back\]$/) });
});

test("a text too long for any result is marked as truncated and refused when written back", async () => {
  keep({ code: codeOf(80_000) });
  const { listed, got } = await readings();
  const mark = "… [cut: 80000 characters in all; too long to be read whole here, so it must not be written back]";
  expect(listed.endsWith(mark)).toBe(true);
  expect(String(got.code).endsWith(mark)).toBe(true);
  expect(String(got.code).length).toBeGreaterThan(20_000);

  const back = { id: "act_1", code: `${got.code}\n// more` };
  t.llm.requests.length = 0;
  t.llm.script = inTurn(call("idp_action_update", back), { text: "done" });
  const done = await t.run(await t.makeAgent({ tools, context_compression: false }));
  expect(done.body, done.text).toMatchObject({ status: "done" });
  expect(t.told(1)[0]).toMatch(/code.*mark of a shortened text/);
  expect(await t.confirmations(done.body.id)).toEqual([]);

  // A direct call returns the whole text and refuses the truncated one too.
  const path = "/v1/connectors/idp/actions/";
  const whole = await t.gantry.call("POST", `${path}idp_action_get`, { json: { arguments: { id: "act_1" } } });
  expect(whole.body.result.code).toHaveLength(80_000);
  for (const confirm of [true, false]) {
    const refused = await t.gantry.call("POST", `${path}idp_action_update`, { json: { arguments: back, confirm } });
    expect([refused.status, refused.body.error.details[0].loc]).toEqual([400, ["body", "arguments", "code"]]);
  }
  expect(writes()).toEqual([]);
});
