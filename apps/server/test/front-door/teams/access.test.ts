import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Access, accessTable } from "../../../src/http/foundation/access-table.ts";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";
import { messageOf, type TeamCalls, teamCalls } from "./teams.fixture.ts";

/** Who calls: with its own key and X-Gantry-Team, or with a key of the team. */
type Kind = "owner" | "admin" | "member" | "adminKey" | "memberKey" | "stranger" | "removed" | "closed";

let gantry: GantryNode;
let calls: TeamCalls;
const keys: Partial<Record<Kind, string>> = {};

const ids: Record<string, string> = {
  owner: "lab",
  model: "none",
  username: "lab",
  team: "lab",
  id: "key_01hzzzzzzzzzzzzzzzzzzzzzzz",
  name: "none",
  agent_id: "agt_01hzzzzzzzzzzzzzzzzzzzzzzz",
  creator_username: "lab",
  agent_slug: "none",
  path: "none",
};

/** No row needs an existing resource: access is decided before anything is looked up. */
function send(row: string, kind: Kind): Promise<Answer> {
  const [method = "", template = ""] = row.split(" ");
  const path = template.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? "none");
  const team = kind === "adminKey" || kind === "memberKey" ? undefined : kind === "closed" ? "shut" : "lab";
  return calls.as(keys[kind] ?? "", team).send(method === "ALL" ? "GET" : method, path);
}

beforeAll(async () => {
  gantry = await startGantry();
  calls = teamCalls(gantry);
  for (const name of ["owner", "admin", "member", "stranger", "removed"] as const) {
    keys[name] = await gantry.newUser(`the-${name}`);
  }
  await calls.newTeam("lab", "the-owner");
  for (const role of ["admin", "member"]) await calls.add("lab", `the-${role}`, { role });
  await calls.add("lab", "the-removed", { role: "owner" });
  for (const role of ["admin", "member"] as const) {
    const made = await calls.as(keys[role] ?? "", "lab").made("POST", "/api/v2/keys", { json: {} });
    keys[`${role}Key`] = made.body.key;
  }
  await calls.newTeam("shut", "the-owner", 0);
  keys.closed = keys.owner;
  await calls.as(keys.owner ?? "").made("DELETE", "/api/v2/teams/shut");
  const removed = calls.as(keys.removed ?? "", "lab");
  expect((await removed.get("/api/v2/me")).body).toMatchObject({ team_role: "owner" });
  await removed.made("DELETE", "/api/v2/teams/lab/members/the-removed");
}, 60_000);
afterAll(() => gantry.close());

const rows = Object.entries(accessTable).filter(([row, { by }]) => by !== "anyone" && row !== "GET /metrics");

describe("every route with a key", () => {
  test.each(["stranger", "removed", "closed"] as const)("does not find the team: %s", async (kind) => {
    for (const [row] of rows) {
      const answer = await send(row, kind);
      expect([row, answer.status, messageOf(answer)], answer.text).toEqual([row, 404, "Team not found"]);
    }
  });

  test.each(["member", "memberKey", "admin", "adminKey", "owner"] as const)("answers by the role: %s", async (kind) => {
    for (const [row, access] of rows) {
      // It would close the team for the rows after it.
      if (row === "DELETE /api/v2/teams/{team}") continue;
      const answer = await send(row, kind);
      const seen = { row, status: answer.status, message: messageOf(answer) };
      const refusal = refusalOf(access, kind.startsWith("member"));
      if (refusal) expect(seen).toEqual({ row, status: 403, message: expect.stringMatching(refusal) });
      else {
        expect(seen.message, row).not.toMatch(refusals);
        expect([401, 500, 503], answer.text).not.toContain(seen.status);
      }
    }
  });
});

const refusals = /^(Only an admin may do this|A team cannot |Only admins and owners of the team lab may )/;

function refusalOf({ by, team }: Access, isPlain: boolean): RegExp | undefined {
  if (by !== "key") return /^Only an admin may do this$/;
  if (team === "refuse") return /^A team cannot .*Use your own key, without X-Gantry-Team/;
  return team === "manage" && isPlain ? /^Only admins and owners of the team lab may / : undefined;
}
