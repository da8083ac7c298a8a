import { expect, test } from "vitest";
import { useRunsPlatform } from "../support/runs-platform.ts";
import { inTurn, toolResults } from "../support/scripted-llm.ts";

const platform = useRunsPlatform();

test("the name of a fixed header that cannot be sent is shown to its creator and to nobody else", async () => {
  const [creator, caller] = [await platform.newUser(), await platform.newUser()];
  const fields = { tools: ["http_request"], visibility: "public" };
  const agent = await platform.makeAgent(fields, creator.key);
  // As one that was saved before such a header was refused.
  const headers = { "bad FIXEDSECRETTOKEN999": "1" };
  const tools = JSON.stringify([{ type: "tool", id: "http_request", arguments: { headers } }]);
  await platform.gantry.database.sql`
    update agent_revisions set snapshot = jsonb_set(snapshot::jsonb, '{tools}', ${tools}::text::jsonb)::json
    where agent_id = ${agent}`;
  const script = () =>
    inTurn(
      { calls: [{ name: "http_request", args: { method: "GET", url: `${platform.gantry.url}/healthz` } }] },
      { text: "done" },
    );
  const shown = async (key: string) => {
    platform.llm.script = script();
    const { body } = await platform.run(agent, {}, { key });
    expect(body.status, JSON.stringify(body)).toBe("done");
    return JSON.stringify([body, await platform.events(body.id, key), toolResults(platform.llm.requests.at(-1))]);
  };
  const theirs = await shown(caller.key);
  expect(theirs).toContain("cannot be sent");
  expect(theirs).not.toContain("FIXEDSECRET");
  expect(await shown(creator.key)).toContain("bad FIXEDSECRETTOKEN999");
});
