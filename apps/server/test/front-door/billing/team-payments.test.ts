import { expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { waitFor } from "../../support/wait-for.ts";
import { messageOf, teamCalls } from "../teams/teams.fixture.ts";

const platform = useRunsPlatform();
const { makeAgent } = platform;

test("a team pays for agents of others within the budgets of the member and of its key; the books outlive both", async () => {
  const { gantry } = platform;
  const { sql } = gantry.database;
  const calls = teamCalls(gantry);
  const [owner, member, seller] = [await platform.newUser(), await platform.newUser(), await platform.newUser()];
  await calls.newTeam("buyers", owner.name, 10);
  await calls.add("buyers", member.name, { daily_limit: 1 });
  const mine = calls.as(member.key, "buyers");
  const ofOwner = calls.as(owner.key, "buyers");
  const { key } = (await mine.made("POST", "/api/v2/keys", { json: { name: "bot", daily_limit: 0.7 } })).body;
  const sold = { visibility: "public", goal: "Say hello", pricing: { per_run: 0.3 } };
  const agent = await makeAgent({ ...sold, model: "gantry/rules" }, seller.key);
  const run = (by = mine, id = agent) => by.send("POST", `/v1/agents/${id}/runs`, { json: { input: {}, wait: 20 } });
  const bot = calls.as(key);
  const left = async (by: typeof bot) => messageOf(await run(by));
  const balanceOf = async (name: string) =>
    (await sql`select w.* from wallets w join users u on u.id = w.user_id where username = ${name}`)[0];

  for (const by of [bot, bot]) expect((await run(by)).body).toMatchObject({ status: "done", cost: 0.3 });
  expect(await left(bot)).toContain("may still spend $0.1 today");
  expect((await run()).body).toMatchObject({ status: "done", cost: 0.3 });
  expect(await left(mine)).toContain("may still spend $0.1 today");

  await ofOwner.made("PATCH", `/api/v2/teams/buyers/members/${member.name}`, { json: { daily_limit: 1.3 } });
  await platform.makeModel("broken", { pricing: {} });
  platform.llm.script = () => ({ status: 400 }) as never;
  const failing = await makeAgent({ ...sold, model: "admin/broken" });
  expect((await run(mine, failing)).body).toMatchObject({ status: "error", cost: 0 });
  expect((await run()).body).toMatchObject({ status: "done", cost: 0.3 });

  expect(await balanceOf("buyers")).toMatchObject({ balance_micros: 8_800_000, reserved_micros: 0 });
  const { results } = (await ofOwner.made("GET", "/api/v2/teams/buyers/usage?by=member")).body;
  expect(results).toMatchObject([{ member: member.name, spent: 1.2 }]);
  expect((await ofOwner.made("GET", "/api/v2/series?metric=spend&group_by=key")).body.total).toBe(1.2);

  for (const name of ["buyers", seller.name]) {
    const deleted = await gantry.call("DELETE", `/api/v2/admin/users/${name}`);
    expect(deleted.status, deleted.text).toBeLessThan(300);
  }
  const finished = () => sql`
    select w.balance_micros as balance from account_deletions d join wallets w on w.user_id = d.user_id
    where d.finished_at is not null`;
  await waitFor("the deletions", async () => (await finished()).length === 2);
  expect(await finished()).toEqual([{ balance: 0 }, { balance: 0 }]);
});
