import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chatLine } from "../support/batch-lines.ts";
import { type EchoChat, startEchoChat } from "../support/echo-chat.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { gantryCommand, startCommand } from "../support/gantry-command.ts";
import { chatModel, createModels } from "../support/models.ts";
import { waitFor } from "../support/wait-for.ts";

let gantry: GantryNode;
let chat: EchoChat;
let folder: string;
beforeAll(async () => {
  chat = await startEchoChat();
  gantry = await startGantry();
  await createModels(gantry, { echo: chatModel(chat.url) });
  folder = await mkdtemp(join(tmpdir(), "gantry-batches-command-"));
}, 60_000);
afterAll(async () => {
  await gantry.close();
  await chat.close();
  await rm(folder, { recursive: true });
});

const settings = () => ({ GANTRY_URL: gantry.url, GANTRY_KEY: gantry.adminKey });
const batches = (...args: string[]) => gantryCommand(["batches", ...args], settings());
const json = async (...args: string[]) => JSON.parse((await batches(...args, "--json")).stdout);
const fileOf = async (name: string, lines: readonly object[]) => {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => JSON.stringify(line)).join("\n"));
  return path;
};
const idsIn = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).custom_id);

test("a batch is created, followed, listed and its results are saved", async () => {
  const file = await fileOf("two.jsonl", [chatLine("admin/echo", "a"), chatLine("admin/echo", "b")]);
  const created = await batches("create", file, "--wait");
  expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/Status +completed\nRequests +2 of 2\n/)]);
  const id = /batch_\w+/.exec(created.stdout)?.[0] ?? "";
  expect(created.stderr).toBe(`Created ${id}.\nFetch the results with: gantry batches results ${id}\n`);
  expect((await batches("list")).stdout).toMatch(new RegExp(`${id} +completed +2 of 2 +/v1/chat/completions`));
  expect(await json("show", id)).toMatchObject({ id, status: "completed" });
  expect((await batches("wait", id)).code).toBe(0);

  expect(idsIn((await batches("results", id)).stdout)).toEqual(["a", "b"]);
  const out = join(folder, "results.jsonl");
  expect((await batches("results", id, "--out", out)).stdout).toBe(`${out}\n`);
  expect(idsIn(await readFile(out, "utf8"))).toEqual(["a", "b"]);
  const again = await batches("results", id, "--out", out);
  expect([again.code, again.stderr]).toEqual([1, `${out} exists. Add --force to replace it.\n`]);
  expect((await batches("results", id, "--errors")).stderr).toContain("No request of");
}, 120_000);

test("requests that fail, and files that are refused, have codes of their own", async () => {
  const half = await fileOf("half.jsonl", [chatLine("admin/echo", "c"), chatLine("admin/missing", "d")]);
  const partly = await batches("create", half, "--wait");
  expect([partly.code, partly.stdout]).toEqual([3, expect.stringMatching(/Requests +2 of 2, 1 failed\n/)]);
  const [, id = ""] = /results (\S+) --errors/.exec(partly.stderr) ?? [];
  expect(idsIn((await batches("results", id, "--errors")).stdout)).toEqual(["d"]);

  const other = await batches("create", half, "--endpoint", "/v1/embeddings", "--wait");
  expect([other.code, other.stdout]).toEqual([1, expect.stringMatching(/Problems +Line 1: .*endpoint of the batch/)]);
  const [, refused = ""] = /(batch_\w+)/.exec(other.stdout) ?? [];
  expect((await batches("results", refused)).stderr).toContain(`gantry batches show ${refused} lists its problems.`);

  const missing = await batches("create", join(folder, "missing.jsonl"));
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("Cannot read the file ")]);
  expect((await batches("create", half, "--endpoint", "/v1/images/generations")).code).toBe(2);
  expect((await batches("show", "batch_unknown")).code).toBe(1);
}, 120_000);

test("Ctrl+C leaves a batch running, and cancel ends it", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  chat.pause = () => promise;
  const file = await fileOf("slow.jsonl", [chatLine("admin/echo", "e")]);
  const { child, ended } = startCommand(["batches", "create", file, "--wait"], settings());
  await waitFor("the call", () => chat.asked.has("e"), 30_000);
  child.kill("SIGINT");
  const { code, stderr } = await ended;
  const [, id = ""] = /^Created (batch_\w+)\.$/m.exec(stderr) ?? [];
  expect([code, stderr]).toEqual([130, expect.stringContaining("gantry batches wait batch_")]);
  expect((await batches("results", id)).stderr).toContain("has no results yet");
  expect(await json("cancel", id)).toMatchObject({ id, status: expect.stringMatching(/^cancell/) });
  expect((await batches("wait", id)).code).toBe(1);
  resolve();
}, 120_000);
