import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { gantryCommand } from "../support/gantry-command.ts";

let gantry: GantryNode;
beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

const refusedKey = /^The API key is missing or invalid\. Run gantry login, or set GANTRY_KEY\.\n$/;

test("shows whether the server is ready, at the port that `serve` uses, and the key's user", async () => {
  const { port } = new URL(gantry.url);
  expect(await gantryCommand(["status"], { PORT: port })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("is up and ready"),
  });
  const asked = await gantryCommand(["status", "--url", gantry.url, "--key", gantry.adminKey], {});
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining("The key belongs to admin") });
  expect(await gantryCommand(["status", "--key", "wrong"], { PORT: port })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(refusedKey),
  });
  const unreachable = await gantryCommand(["status"], { PORT: "9" });
  expect(unreachable).toMatchObject({ code: 2, stderr: "No Gantry server responds at http://127.0.0.1:9\n" });
}, 120_000);

test("blanks around a setting are ignored, and an empty setting counts as unset", async () => {
  const { port } = new URL(gantry.url);
  const url = `http://127.0.0.1:${port}`;
  const ready = { code: 0, stdout: `${url} is up and ready\n`, stderr: "" };
  expect(await gantryCommand(["status"], { HOST: " 127.0.0.1", PORT: ` ${port} \n` })).toEqual(ready);
  expect(await gantryCommand(["status"], { HOST: " 0.0.0.0 ", PORT: port })).toEqual(ready);
  for (const empty of ["", " \n"]) {
    const none = { GANTRY_URL: empty, GANTRY_KEY: empty, HOST: empty, PORT: port };
    expect(await gantryCommand(["status"], none)).toEqual(ready);
  }
  const given = { GANTRY_URL: ` ${url}\n`, GANTRY_KEY: ` ${gantry.adminKey}\n` };
  expect(await gantryCommand(["status"], given)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("The key belongs to admin"),
  });
  expect(await gantryCommand(["ledger", "verify"], given)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("The ledger is correct"),
  });
  expect(await gantryCommand(["ledger", "verify", "--key", gantry.adminKey], { PORT: ` ${port}` })).toMatchObject({
    code: 0,
  });
}, 120_000);

test("an address without http:// is refused, whatever its host", async () => {
  const { port } = new URL(gantry.url);
  for (const host of ["localhost", "127.0.0.1"]) {
    const url = `${host}:${port}`;
    const { code, stderr } = await gantryCommand(["status", "--url", url], {});
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Invalid url "${url}": it must begin with`)]);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  }
});

test("a wrong argument is reported in one line, not as a server that is not ready", async () => {
  for (const [wrong, reason] of [
    ["--x", "Unknown option --x. See gantry help status."],
    ["--ulr", "Unknown option --ulr. Did you mean --url?"],
    ["--url", "--url needs a value: --url URL"],
    ["help", "Unexpected argument help. Usage: gantry status [options]"],
  ] as const) {
    expect(await gantryCommand(["status", wrong], {})).toEqual({ code: 2, stdout: "", stderr: `${reason}\n` });
  }
});

test("an invalid port or host is reported by the name of its setting", async () => {
  for (const [name, value] of [
    ["PORT", "abc"],
    ["PORT", "70000"],
    ["HOST", "a b"],
  ] as const) {
    const { code, stdout, stderr } = await gantryCommand(["status"], { [name]: value });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.trim().split("\n")).toEqual([expect.stringMatching(`^${name} must be `)]);
  }
});

test("another program and a silent port are not mistaken for Gantry", async () => {
  const page = createServer((_request, response) => response.end("<html>ok</html>"));
  const silent = createServer(() => {});
  for (const server of [page, silent]) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await gantryCommand(["status", "--url", url], {})).toMatchObject({
      code: 2,
      stderr: `No Gantry server responds at ${url}\n`,
    });
    server.closeAllConnections();
    server.close();
  }
}, 120_000);

test("a ledger that could not be read is not reported as wrong", async () => {
  for (const args of [["--url", "http://127.0.0.1:9"], ["--url", gantry.url, "--key", "wrong"], ["--x"]]) {
    const { code, stdout, stderr } = await gantryCommand(["ledger", "verify", ...args], {});
    expect([code, stdout], stderr).toEqual([2, ""]);
  }
  const keyless = await gantryCommand(["ledger", "verify", "--url", gantry.url], {});
  expect(keyless).toMatchObject({ code: 2, stderr: expect.stringMatching(refusedKey) });
}, 120_000);

test("an unusable backup is reported in one sentence", async () => {
  const nothing = fileURLToPath(new URL("./nothing.tar", import.meta.url));
  expect(await gantryCommand(["restore", nothing], {})).toEqual({
    code: 1,
    stdout: "",
    stderr: `File ${nothing} does not exist\n`,
  });
  const folder = dirname(nothing);
  expect(await gantryCommand(["restore", folder], {})).toEqual({
    code: 1,
    stdout: "",
    stderr: `${folder} is a folder. Name a backup file in it.\n`,
  });
}, 120_000);

test("help exists for the command and each subcommand, and serve takes no arguments", async () => {
  for (const args of [[], ["-h"], ["--help"]]) {
    expect(await gantryCommand(args, {})).toMatchObject({ code: 0, stdout: expect.stringContaining("gantry serve ") });
  }
  expect(await gantryCommand(["status", "--help"], {})).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^gantry status \[options\]\n.* --url URL +Address.*\nExit codes\n +0 +Ready\.\n +1 +Up.*\n +2 +Not reachable, or/s,
    ),
  });
  const ofBackup = await gantryCommand(["backup", "--help"], {});
  expect(await gantryCommand(["help", "backup"], {})).toEqual(ofBackup);
  expect(ofBackup).toMatchObject({ code: 0, stdout: expect.stringMatching(/^gantry backup FILE\|FOLDER/) });
  expect(await gantryCommand(["help", "nothing"], {})).toMatchObject({ code: 2 });
  const nowhere = { GANTRY_HOME: fileURLToPath(new URL("./no-home", import.meta.url)) };
  expect(await gantryCommand(["backup", "help"], nowhere)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("does not contain Gantry data"),
  });
  expect(await gantryCommand(["--version"], {})).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    stderr: "",
  });
  expect(await gantryCommand(["serve", "--port", "1"], {})).toMatchObject({
    code: 2,
    stderr: "Unknown option --port. See gantry help serve.\n",
  });
}, 120_000);
