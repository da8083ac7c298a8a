import { spawn } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { textManifest } from "../support/agents.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { gantryCommand, startCommand } from "../support/gantry-command.ts";
import { search } from "../support/notices.ts";
import { isFile, provide } from "../support/system-packages.ts";
import { waitFor } from "../support/wait-for.ts";

let gantry: GantryNode;
let folder: string;
let key: string;
/** Never answers. */
const silent = createServer(() => {});
beforeAll(async () => {
  [gantry, folder] = await Promise.all([startGantry(), mkdtemp(join(tmpdir(), "gantry-command-"))]);
  key = await gantry.newUser("ann");
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  silent.closeAllConnections();
  silent.close();
  await gantry.close();
  await rm(folder, { recursive: true });
});

const config = () => join(folder, "config");
/** With the stored login; `inFolder` is a path that the command reads or writes. */
const run = (args: string[], input?: string) => gantryCommand(args, { XDG_CONFIG_HOME: config() }, [], input);
const inFolder = (name: string) => join(folder, name);
const minutes = 60_000;

test(
  "login checks the key and stores it for the user alone, and its key goes to no other server",
  async () => {
    const wrong = await run(["login", "--url", gantry.url, "--key-stdin"], "wrong");
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("does not accept this key")]);
    const done = await run(["login", "--url", `${gantry.url}/`, "--key-stdin"], `${key}\n`);
    expect(done).toMatchObject({ code: 0, stdout: `Logged in to ${gantry.url} as ann.\n` });
    const file = join(config(), "gantry", "config.json");
    expect([(await stat(file)).mode & 0o777, (await stat(join(config(), "gantry"))).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect(await readdir(join(config(), "gantry"))).toEqual(["config.json"]);
    expect(JSON.parse((await run(["whoami", "--json"])).stdout)).toMatchObject({ username: "ann" });
    const elsewhere = await run(["whoami", "--url", gantry.url.replace("127.0.0.1", "localhost")]);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining("Run gantry login")]);
    await chmod(file, 0o644);
    expect((await run(["whoami"])).stderr).toContain(`chmod 600 ${file}`);
    await chmod(file, 0o600);
    const other = await run(["whoami", "--profile", "work"]);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("gantry login --profile work")]);
    const second = await run(["login", "--url", gantry.url, "--profile", "work", "--key-stdin", "--json"], `${key}\n`);
    expect(JSON.parse(second.stdout)).toEqual({ url: gantry.url, username: "ann", profile: "work", file });
    expect(JSON.parse((await run(["logout", "--json"])).stdout)).toEqual({ logged_out: ["work"] });
    expect((await run(["whoami"])).code).toBe(0);
  },
  2 * minutes,
);

test(
  "predict streams text, saves files without replacing any, and says which field is wrong",
  async () => {
    const text = await run(["predict", "gantry/text", "What is 6 * 7?"]);
    expect([text.code, text.stdout]).toEqual([0, "6 * 7 = 42\n"]);
    expect(text.stderr).toMatch(/^pred_\w+, \$0\.0000\d+, \d+ m?s\n$/);
    const piped = await run(["predict", "gantry/text", "prompt=-", "--json"], "What is 2 + 2?\n");
    expect(JSON.parse(piped.stdout)).toMatchObject({ status: 200, output_data: { output: "2 + 2 = 4" } });
    const events = await run(["predict", "gantry/text", "What is 2 + 3?", "--json", "--stream"]);
    expect(
      events.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { prediction_id: expect.stringMatching(/^pred_/) },
      ...Array.from({ length: events.stdout.trim().split("\n").length - 1 }, () => ({ status: 200 })),
    ]);
    const saved = await run(["predict", "gantry/text", "What is 2 + 5?", "--stream", "--out", inFolder("sum.txt")]);
    expect([saved.code, saved.stdout]).toEqual([0, `2 + 5 = 7\n${inFolder("sum.txt")}\n`]);
    expect(await readFile(inFolder("sum.txt"), "utf8")).toBe("2 + 5 = 7\n");
    const image = ["predict", "gantry/image", "prompt=a boat", "size=1280x720", "optimize_prompt_mode=fast"];
    const first = inFolder("boat.jpg");
    expect(await run([...image, "--out", first])).toMatchObject({ code: 0, stdout: `${first}\n` });
    expect((await readFile(first)).subarray(0, 3).toString("hex")).toBe("ffd8ff");
    const again = await run([...image, "--out", first]);
    expect([again.code, again.stderr]).toEqual([2, `${first} already exists. Add --force to replace it.\n`]);
    const mixed = await run([...image, "--out", "-", "--json"]);
    expect([mixed.code, mixed.stdout]).toEqual([2, ""]);
    expect((await run([...image, "--queue", "--out", inFolder("later.jpg")])).code).toBe(2);
    const withFile = await run([...image, `image=@${first}`, "--queue", "--wait", "--out", `${folder}/`]);
    expect([withFile.code, withFile.stdout]).toEqual([0, `${inFolder("image.jpg")}\n`]);
    for (const [field, reason] of [
      ["size=3", "size must be one of: 2k, 1536x1536"],
      ["watermark=perhaps", "watermark must be true or false"],
      ["sise=2k", "Unknown field sise. Did you mean size?"],
      ["image=boat.jpg", "write image=@boat.jpg"],
      ["image=@none.jpg", "Cannot read the file none.jpg."],
    ] as const) {
      const refused = await run(["predict", "gantry/image", "prompt=x", field]);
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([2, "", expect.stringContaining(reason)]);
    }
    expect(await run(["predict", "gantry/none", "x"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("The model does not exist"),
    });
  },
  4 * minutes,
);

test(
  "Ctrl+C cancels a prediction, but not one that was queued",
  async () => {
    const { port } = silent.address() as AddressInfo;
    const manifest = {
      ...textManifest,
      backend: { type: "openai-chat", url: `http://127.0.0.1:${port}/v1`, model: "x" },
    };
    await writeFile(inFolder("slow.json"), JSON.stringify(manifest));
    expect(await run(["models", "put", "ann/slow", inFolder("slow.json")])).toMatchObject({
      code: 0,
      stdout: "Saved ann/slow, version 1.\n",
    });
    const listed = async (status: string): Promise<{ id: string }[]> =>
      (await gantry.call("GET", `/api/v2/predictions?model=ann/slow&status=${status}`, { key })).body.results;
    const direct = startCommand(["predict", "ann/slow", "hello"], { XDG_CONFIG_HOME: config() });
    await waitFor("the prediction", async () => (await listed("running")).length === 1);
    direct.child.kill("SIGINT");
    expect(await direct.ended).toMatchObject({ code: 130, stdout: "", stderr: expect.stringContaining("Cancelled.") });
    await waitFor("its end", async () => (await listed("cancelled")).length === 1);
    const queued = startCommand(["predict", "ann/slow", "hello", "--queue", "--wait"], { XDG_CONFIG_HOME: config() });
    await waitFor("the prediction", async () => (await listed("running")).length === 1);
    // Time to receive the id and to start waiting.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    queued.child.kill("SIGINT");
    const left = await queued.ended;
    expect([left.code, left.stderr]).toEqual([130, expect.stringContaining("gantry predictions wait pred_")]);
    const [{ id } = expect.fail("not running")] = await listed("running");
    expect(await run(["predictions", "cancel", id])).toMatchObject({ code: 0, stdout: `Cancelled ${id}.\n` });
  },
  2 * minutes,
);

test(
  "keys, usage, models and chat answer, and a reader that leaves is not a failure",
  async () => {
    const created = await run(["keys", "create", "ci", "--expires", "90d", "--monthly-limit", "5"]);
    expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/^gk_\w+\n$/)]);
    const keys: { id: string; name: string }[] = JSON.parse((await run(["keys", "list", "--json"])).stdout);
    const id = keys.find(({ name }) => name === "ci")?.id ?? "";
    expect((await run(["keys", "revoke", id])).code).toBe(2);
    expect(await run(["keys", "revoke", id, "--yes"])).toMatchObject({ code: 0, stdout: `Revoked ${id}.\n` });
    const used = await run(["usage", "--by", "model", "--from", "24h"]);
    expect(used.stdout).toMatch(/^MODEL +REQUESTS +ERRORS +TOKENS +SPEND\n(.+\n)*gantry\/image +\d/);
    expect(used.stderr).toContain("Balance: $");
    expect((await run(["models", "show", "gantry/image"])).stdout).toMatch(/size +one of: 2k, .* \(default: 2k\)/);
    expect(await run(["chat", "gantry/text", "What is 3 * 3?"])).toMatchObject({ code: 0, stdout: "3 * 3 = 9\n" });
    const head = ["sh", "-c", '"$@" | head -n 1', "sh"];
    expect(await gantryCommand(["predictions", "list", "--all"], { XDG_CONFIG_HOME: config() }, head)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ID +MODEL.*\n$/),
      stderr: "",
    });
  },
  2 * minutes,
);

test(
  "notices are configured, listed and dismissed",
  async () => {
    const settings = ["notices", "settings"];
    expect((await run([...settings, "--balance-below", "much"])).code).toBe(2);
    const changed = await run([...settings, "--balance-below", "1000", "--budget-percent", "none"]);
    expect(changed.stdout).toBe("Balance below: $1,000.00\nBudget used: none\nWebhook: none\n");
    await search(gantry);
    const [notice]: { id: string }[] = JSON.parse((await run(["notices", "list", "--json"])).stdout);
    const id = notice?.id ?? "";
    expect((await run(["notices", "list"])).stdout).toMatch(/^ID .*\nntc_\S+ .*The balance of ann is .*\n$/);
    expect(await run(["notices", "dismiss", id])).toMatchObject({ code: 0, stdout: `Dismissed ${id}.\n` });
    expect((await run(["notices", "list"])).stderr).toContain("You have no notices.");
    expect(JSON.parse((await run([...settings, "--webhook", "https://example.com/low", "--json"])).stdout)).toEqual({
      ...{ balance_below: 1_000, budget_percent: null, webhook: { url: "https://example.com/low" } },
    });
  },
  2 * minutes,
);

const shells = {
  bash: {
    packages: ["bash"],
    ask: (line: string) => `
      source <("$GANTRY" completion bash)
      gantry() { "$GANTRY" "$@"; }
      COMP_LINE=${quoted(line)}; COMP_POINT=\${#COMP_LINE}
      read -ra COMP_WORDS <<< "$(sed 's/[=:]/ & /g' <<< "$COMP_LINE")"
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _gantry
      printf '%s\\n' "\${COMPREPLY[@]}"`,
    cut: true,
  },
  zsh: {
    packages: ["zsh"],
    ask: (line: string) => `
      compdef() { :; }; compadd() { while [[ "$1" != -- ]]; do shift; done; shift; print -rl -- "$@"; }
      source <("$GANTRY" completion zsh)
      gantry() { "$GANTRY" "$@"; }
      words=(\${(s: :)\${:-${quoted(line)}}}); CURRENT=\${#words}
      _gantry`,
    cut: false,
  },
  fish: {
    packages: ["fish"],
    ask: (line: string) => `
      "$GANTRY" completion fish | source
      function gantry; $GANTRY $argv; end
      complete -C ${quoted(line)}`,
    cut: false,
  },
};

function quoted(text: string): string {
  return `'${text}'`;
}

for (const [shell, { packages, ask, cut }] of Object.entries(shells)) {
  const hasShell = await provide({ name: shell, packages, isThere: () => isFile(`/usr/bin/${shell}`) });
  test.runIf(hasShell)(
    `completes commands, options and names of models in ${shell}`,
    async () => {
      const command = inFolder("gantry");
      const main = fileURLToPath(new URL("../../../../packages/cli/src/main.ts", import.meta.url));
      await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 });
      const complete = async (line: string): Promise<string[]> => {
        const child = spawn(`/usr/bin/${shell}`, ["-c", ask(line)], {
          env: { PATH: process.env.PATH ?? "", HOME: folder, XDG_CONFIG_HOME: config(), GANTRY: command },
        });
        let [shown, failed] = ["", ""];
        child.stdout.on("data", (chunk) => {
          shown += chunk;
        });
        child.stderr.on("data", (chunk) => {
          failed += chunk;
        });
        await new Promise((resolve) => child.once("close", resolve));
        expect(failed).toBe("");
        return shown
          .split("\n")
          .map((one) => one.split("\t")[0] ?? "")
          .filter((one) => one !== "");
      };
      expect(await complete("gantry mod")).toEqual(["models"]);
      expect(await complete("gantry usage --b")).toEqual(["--by"]);
      // The server may be slower than a shell waits.
      const eventually = async (line: string, wanted: string) => {
        await waitFor(`${line} to be completed`, async () => (await complete(line)).includes(wanted), 60_000);
      };
      await eventually("gantry models show gantry/i", "gantry/image");
      await eventually("gantry predict gantry/image size=128", cut ? "1280x720" : "size=1280x720");
    },
    3 * minutes,
  );
}

test(
  "account export saves a complete archive and nothing of a cut one",
  async () => {
    const by = ["--url", gantry.url, "--key", key];
    const target = inFolder("ann.tar.gz");
    const saved = await run(["account", "export", "--out", target, "--json", ...by]);
    expect([saved.code, saved.stderr]).toEqual([0, ""]);
    const { path, bytes, manifest } = JSON.parse(saved.stdout);
    expect({ path, bytes }).toEqual({ path: target, bytes: (await stat(target)).size });
    expect(manifest).toMatchObject({ account: { username: "ann" }, with_files: true, complete: true });
    const again = await run(["account", "export", "--out", target, ...by]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("Add --force to replace it.")]);
    const other = await run(["account", "export", "--user", "admin", "--out", inFolder("admin.tar.gz"), ...by]);
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("Only an admin may do this")]);

    // A proxy that ends the answer early, and as if it was complete.
    const whole = await readFile(target);
    const proxy = createServer((request, response) => {
      if (!request.url?.startsWith("/api/v2/export")) return response.end(JSON.stringify({ username: "../ann" }));
      response.setHeader("content-type", "application/gzip");
      return response.end(whole.subarray(0, whole.length - 200));
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as AddressInfo;
    const cut = inFolder("cut.tar.gz");
    const hostile = ["account", "export", "--out", folder, "--url", `http://127.0.0.1:${port}`, "--key", key];
    expect((await run(hostile)).stderr).toContain("The export was cut");
    const failed = await run(["account", "export", "--out", cut, "--url", `http://127.0.0.1:${port}`, "--key", key]);
    proxy.close();
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("The export was cut")]);
    expect((await readdir(folder)).filter((name) => name.startsWith("cut"))).toEqual([]);
  },
  2 * minutes,
);
