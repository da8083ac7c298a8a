import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { freePort } from "../../server/src/engines/database/free-port.ts";
import { provideNpmProgram } from "../../server/test/support/npm-programs.ts";
import { test } from "./support/console-test.ts";

const inspector = await provideNpmProgram({
  name: "The MCP Inspector",
  packageName: "@modelcontextprotocol/inspector@2.12.0",
  path: "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
});

const folder = await mkdtemp(join(tmpdir(), "gantry-inspector-"));
let program: ChildProcess | undefined;

afterAll(async () => {
  if (program && program.exitCode === null) {
    program.kill();
    await once(program, "exit");
  }
  await rm(folder, { recursive: true, force: true });
});

/** Returns the address of its page, with the token that opens it. */
async function startInspector(mcpUrl: string): Promise<string> {
  const config = join(folder, "servers.json");
  await writeFile(config, JSON.stringify({ mcpServers: { gantry: { type: "streamable-http", url: mcpUrl } } }));
  const child = spawn(process.execPath, [inspector ?? "", "--web", "--config", config], {
    env: {
      ...{ PATH: process.env.PATH, HOME: folder, CLIENT_PORT: String(await freePort()), MCP_SANDBOX_PORT: "0" },
      ...{ MCP_AUTO_OPEN_ENABLED: "false", MCP_INSPECTOR_SECRET_STORE: "memory", MCP_STORAGE_DIR: folder },
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  program = child;
  let output = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const url = /http:\/\/127\.0\.0\.1:\d+\/?\?MCP_INSPECTOR_API_TOKEN=\w+/.exec(output)?.[0];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`The inspector ended with ${code}:\n${output}`)));
  });
}

describe.runIf(inspector)("the MCP Inspector", () => {
  test("connects by the address alone and lists the tools", async ({ gantry, visit, page }) => {
    const address = await startInspector(`${gantry.url}/mcp`);
    // Its fonts come from another server.
    await page.route(/fonts\.googleapis\.com/, (route) => route.fulfill({ contentType: "text/css", body: "" }));
    await page.goto(address);
    await page.getByLabel('Connect or disconnect "gantry"').click({ force: true });
    await page.getByRole("heading", { name: "Allow “MCP Inspector” to use Gantry as admin?" }).waitFor();
    await page.getByText(new URL(address).host).waitFor();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByText("Tools", { exact: true }).first().click();
    await page.getByText("model_gantry_text").first().waitFor();

    const { results } = (await gantry.call("GET", "/api/v2/keys")).body;
    expect(results).toContainEqual(
      expect.objectContaining({ connected_app: { name: "MCP Inspector", host: new URL(address).host } }),
    );
    // What the inspector writes to its console is not about Gantry.
    visit.troubles.length = 0;
  });
});
