import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { gantryCommand, startCommand } from "../support/gantry-command.ts";
import { waitFor } from "../support/wait-for.ts";

let node: GantryNode;
let folder: string;
beforeAll(async () => {
  node = await startGantry();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-drives-command-"));
});
afterEach(() => rm(folder, { recursive: true }));
afterAll(async () => {
  await node?.close();
});

const gantry = (args: string[], env: Record<string, string> = {}) =>
  gantryCommand(args, { GANTRY_URL: node.url, GANTRY_KEY: node.adminKey, ...env });
const local = (name: string) => join(folder, name);
const put = async (name: string, text: string) => {
  await mkdir(join(local(name), ".."), { recursive: true });
  await writeFile(local(name), text);
};

test("files and folders are copied up, down and across", async () => {
  const created = await gantry(["drives", "create", "handbook", "--index", "--description", "What we know"]);
  expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/^drv_\w+\n$/)]);
  const id = created.stdout.trim();
  await put("docs/travel.md", "# Travel\n\nTrains are paid in full.\n");
  await put("docs/deep/er/note.txt", "A note.");
  await put("docs/empty.txt", "");
  await put("large.bin", "x".repeat(1_500_000));

  const up = await gantry(["drives", "cp", "-r", local("docs"), local("large.bin"), "handbook:/"]);
  expect([up.code, up.stderr]).toEqual([0, "Copied 4 files, 1.4 MB.\n"]);
  const listed = await gantry(["drives", "ls", "-r", "handbook", "--json"]);
  expect(JSON.parse(listed.stdout).items.map(({ path }: { path: string }) => path)).toEqual([
    ...["/docs", "/docs/deep", "/docs/deep/er", "/docs/deep/er/note.txt", "/docs/empty.txt", "/docs/travel.md"],
    "/large.bin",
  ]);
  expect((await gantry(["drives", "ls", "handbook"])).stdout).toMatch(
    /^ +SIZE +NAME\n +docs\/\n1\.4 MB +large\.bin\n$/,
  );
  expect((await gantry(["drives", "cat", `${id}:docs/deep/er/note.txt`])).stdout).toBe("A note.");

  await put("docs/travel.md", "Replaced.");
  await put("large.bin", "y".repeat(1_500_000));
  const kept = await gantry(["drives", "cp", "-n", "-r", local("docs"), local("large.bin"), "handbook:/"]);
  expect([kept.code, kept.stderr]).toEqual([0, "Copied 0 files, 0 bytes, 4 left alone.\n"]);
  const again = await gantry(["drives", "cp", local("docs/travel.md"), local("large.bin"), "handbook:docs"]);
  expect([again.code, again.stderr]).toEqual([0, "Copied 2 files, 1.4 MB.\n"]);

  // To a folder that does not exist: under the new name. To one that exists: into it.
  const down = await gantry(["drives", "cp", "-r", "handbook:/docs", local("copy")]);
  expect([down.code, down.stderr]).toEqual([0, "Copied 4 files, 1.4 MB.\n"]);
  expect((await readdir(local("copy"))).sort()).toEqual(["deep", "empty.txt", "large.bin", "travel.md"]);
  expect(await readFile(local("copy/travel.md"), "utf8")).toBe("Replaced.");
  expect((await gantry(["drives", "cp", "-r", "handbook:/docs", local("copy"), "--json"])).code).toBe(0);
  expect(await readFile(local("copy/docs/deep/er/note.txt"), "utf8")).toBe("A note.");
  const across = await gantry(["drives", "cp", "-r", "handbook:/docs", "handbook:/backup/"]);
  expect([across.code, across.stderr]).toEqual([0, "Copied 4 files, 1.4 MB.\n"]);
  expect((await gantry(["drives", "cat", "handbook:/backup/docs/travel.md"])).stdout).toBe("Replaced.");

  await waitFor(
    "the index",
    async () => {
      const { stdout } = await gantry(["drives", "search", "handbook", "note", "--json"]);
      return JSON.parse(stdout).results.length > 0;
    },
    60_000,
  );
  const found = await gantry(["drives", "search", "handbook", "a", "note", "--limit", "1"]);
  expect(found.stdout).toMatch(/^\/(docs|backup\/docs)\/deep\/er\/note\.txt, lines 1–1\n {2}A note\.\n/);

  const one = await gantry(["drives", "rm", "--yes", "handbook:/docs", "handbook:/large.bin"]);
  expect([one.code, one.stderr]).toEqual([3, expect.stringContaining("handbook:/docs: This is a directory. Add -r")]);
  expect((await gantry(["drives", "rm", "-r", "handbook:/docs"])).code).toBe(2);
  const both = ["handbook:/docs", `${id}:/backup`];
  const removed = await gantry(["drives", "rm", "-ry", "--json", ...both]);
  expect([removed.code, JSON.parse(removed.stdout)]).toEqual([0, { deleted: both }]);
  expect((await gantry(["drives", "ls", "handbook"])).stderr).toBe("The directory is empty.\n");
  expect((await gantry(["drives", "delete", "handbook", "--yes"])).stderr).toBe(`Deleted ${id}.\n`);
  expect((await gantry(["drives", "list", "--json"])).stdout).toBe("[]\n");
}, 180_000);

test("an index is created, shown, rebuilt and deleted", async () => {
  await gantry(["drives", "create", "papers"]);
  await put("broken.pdf", "%PDF-1.7 and nothing else");
  await put("note.md", "Trains are paid in full.");
  await gantry(["drives", "cp", local("broken.pdf"), local("note.md"), "papers:/"]);
  const made = await gantry(["drives", "index", "papers"]);
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^Drive +papers \(drv_\w+\)\nIndex +\w+, /)]);
  const index = async () =>
    JSON.parse((await gantry(["drives", "list", "--json"])).stdout).find(
      ({ name }: { name: string }) => name === "papers",
    ).index;
  await waitFor("the index", async () => (await index()).failed === 1 && (await index()).indexed === 1, 60_000);
  expect((await gantry(["drives", "search", "papers", "trains"])).stdout).toContain("/note.md");
  const failed = await gantry(["drives", "index", "papers", "--failed", "--json"]);
  expect(JSON.parse(failed.stdout)).toMatchObject([{ path: "/broken.pdf", reason: expect.any(String) }]);
  const missing = await gantry(["drives", "index", "papers", "--embedding-model", "admin/none"]);
  expect([missing.code, missing.stdout]).toEqual([1, ""]);
  expect((await gantry(["drives", "index", "papers", "--rebuild"])).code).toBe(0);
  expect((await gantry(["drives", "index", "papers", "--rebuild", "--off"])).code).toBe(2);
  expect((await gantry(["drives", "index", "papers", "--off"])).stderr).toContain("Add --yes to delete the index");
  const off = await gantry(["drives", "index", "papers", "--off", "--yes", "--json"]);
  expect(JSON.parse(off.stdout)).toMatchObject({ name: "papers", index: null });
}, 120_000);

test("what cannot be copied is listed, and the rest is copied", async () => {
  await gantry(["drives", "create", "partly"]);
  await put("in/good.txt", "good");
  await symlink(local("in"), local("in/loop"));
  await symlink(local("nowhere"), local("in/broken"));
  const up = await gantry(["drives", "cp", "-r", local("in"), local("missing.txt"), "partly:/"]);
  expect([up.code, up.stdout]).toEqual([3, ""]);
  expect(up.stderr).toContain("in/loop is a link to a folder.");
  expect(up.stderr).toContain(`${local("missing.txt")} does not exist.\n`);
  expect(up.stderr).toContain("Copied 1 file, 4 bytes, 3 failed.\n");
  const plain = await gantry(["drives", "cp", "partly:/in", local("out"), "--json"]);
  expect([plain.code, JSON.parse(plain.stdout)]).toMatchObject([1, { copied: 0, failed: [{ file: "/in" }] }]);
  // A file of the drive, and a folder of the same name here.
  await mkdir(local("out/good.txt"), { recursive: true });
  const blocked = await gantry(["drives", "cp", "-r", "partly:/in/", local("out")]);
  expect([blocked.code, blocked.stderr]).toEqual([0, "Copied 1 file, 4 bytes.\n"]);
  const into = await gantry(["drives", "cp", "partly:/in/good.txt", local("out")]);
  expect([into.code, into.stderr]).toEqual([1, expect.stringContaining("out/good.txt is a folder.")]);
  expect((await gantry(["drives", "cp", "a.txt", "b.txt"])).code).toBe(2);
  expect((await gantry(["drives", "cp", "a.txt", "none:/"])).stderr).toContain("The drive none does not exist.");
  expect((await gantry(["drives", "ls", "partly:/a/../b"])).code).toBe(2);
  expect((await gantry(["drives", "ls", "partly:/none"])).stderr).toBe("/none does not exist on the drive.\n");
}, 120_000);

/** A server that names files so that they would be written outside of the folder. */
function startHostile(): Promise<Server & { url: string }> {
  const paths = [
    "/in/ok.txt",
    "/in/../../escaped",
    "/etc/escaped",
    "/in/a/../../../escaped",
    "/in/\u001b[2Jname",
    "/in/..",
  ];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (pathname.endsWith("/items")) {
      if (searchParams.get("path") !== "/in")
        return answer(404, { error: { type: "not_found", message: "Not found" } });
      return answer(200, { items: paths.map((path) => ({ path, type: "file", size: 5 })), total: paths.length });
    }
    if (!pathname.includes("/files/")) return answer(200, { id: "drv_1", name: "bad" });
    response.writeHead(200, { "content-length": 5 });
    // Never ends: the copy must leave no half file when it is interrupted.
    return request.method === "GET" && pathname.endsWith("slow") ? response.write("half") : response.end("bytes");
  });
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve(Object.assign(server, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })),
    ),
  );
}

test("names from a hostile server cannot leave the folder, and an interrupted copy leaves no half file", async () => {
  const hostile = await startHostile();
  const env = { GANTRY_URL: hostile.url, GANTRY_KEY: "any" };
  const down = await gantry(["drives", "cp", "-r", "drv_1:/in", local("a/b/c")], env);
  expect([down.code, down.stderr.match(/is not a safe name for a local file/g)?.length]).toEqual([3, 4]);
  expect((await readdir(folder, { recursive: true })).sort()).toEqual([
    ...["a", "a/b", "a/b/c", "a/b/c/\u001b[2Jname", "a/b/c/ok.txt"],
  ]);

  const copying = startCommand(["drives", "cp", "drv_1:/in/slow", local("slow")], { ...env });
  const parts = async () => (await readdir(folder)).filter((name) => name.endsWith(".part"));
  await waitFor("the first bytes", async () => (await parts()).length === 1, 30_000);
  copying.child.kill("SIGINT");
  expect((await copying.ended).code).toBe(130);
  expect(await readdir(folder)).toEqual(["a"]);
  hostile.close();
  hostile.closeAllConnections();
}, 60_000);
