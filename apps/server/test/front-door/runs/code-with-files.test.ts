import { expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";

const platform = useRunsPlatform();
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const program = (code: string) => ({ calls: [{ name: "run_javascript", args: { code } }] });

test("a program of the owner's run reads and writes files of a drive; another user's run only reads", async () => {
  const { key } = await platform.newUser();
  const drive = (await call("POST", "/v1/drives", { key, json: { name: "Data" } })).body.id;
  const file = new Blob(["3\n4\n"]);
  await call("POST", `/v1/drives/${drive}/files`, { key, form: { path: "/in.txt", file } });
  const agent = await platform.makeAgent({ tools: ["run_javascript"], drives: [drive], visibility: "public" }, key);
  const code = `const sum = files.read("/in.txt").trim().split("\\n").reduce((a, b) => a + Number(b), 0);
    files.write("/out.txt", "sum " + sum); sum`;

  platform.llm.script = inTurn(program(code), { text: "done" });
  const own = await platform.run(agent, {}, { key });
  expect(own.body.status, own.text).toBe("done");
  expect(toolResults(platform.llm.requests.at(-1))).toEqual(["7\n\nWritten:\n/out.txt (5 bytes, new)"]);
  expect(JSON.stringify(platform.llm.requests[0])).toContain("files.write(path, textOrBytes)");
  expect((await call("GET", `/v1/drives/${drive}/files/out.txt`, { key })).text).toBe("sum 7");
  const [stored] = await platform.gantry.database.sql`select kind from run_calls where run_id = ${own.body.id}`;
  expect(stored).toEqual({ kind: "write" });

  const stranger = await platform.newUser();
  platform.llm.requests.length = 0;
  platform.llm.script = inTurn(program(code.replace("sum 7", "other")), program('files.read("/in.txt")'), {
    text: "done",
  });
  const theirs = await platform.run(agent, {}, { key: stranger.key });
  expect(theirs.body.status, theirs.text).toBe("done");
  const [refused, read] = toolResults(platform.llm.requests.at(-1));
  expect(refused).toContain("/out.txt: Only the creator of the agent can write to its drives");
  expect(read).toBe('"3\\n4\\n"');
  expect(JSON.stringify(platform.llm.requests[0])).not.toContain("files.write");
});
