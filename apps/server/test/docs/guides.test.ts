import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { selfSigned } from "../../src/engines/net/self-signed.fixture.ts";
import { type ScriptedServer, scriptedServer } from "../../src/engines/tools/scripted-server.fixture.ts";
import { serveTenant, type TenantServer } from "../../src/features/connectors/idp/tenant-server.fixture.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { allScopes } from "../support/idp-connector.ts";
import { isFile, provide } from "../support/system-packages.ts";
import { waitFor } from "../support/wait-for.ts";

const hasCurl = await provide({ name: "curl", packages: ["curl"], isThere: () => isFile("/usr/bin/curl") });
const guides = new URL("../../../../docs/guides/", import.meta.url);
const names = (await readdir(guides)).filter((name) => name.endsWith(".md"));
const textOf = (name: string) => readFile(new URL(name, guides), "utf8");

const delivered: { headers: IncomingHttpHeaders; body: string }[] = [];
const receiver = createServer(async (request, response) => {
  const body = (await Array.fromAsync(request)).join("");
  delivered.push({ headers: request.headers, body });
  response.end();
});
let room: string;
let gantry: GantryNode;
let tenant: TenantServer;
let tools: ScriptedServer;

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-guides-"));
  await writeFile(join(room, "authority.pem"), selfSigned.cert);
  gantry = await startGantry({ env: { GANTRY_EXTRA_CA: join(room, "authority.pem") } });
  [tenant, tools] = await Promise.all([serveTenant(selfSigned), scriptedServer()]);
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await gantry.close();
  receiver.close();
  await Promise.all([tenant.close(), tools.close(), rm(room, { recursive: true })]);
});

/** The guide's lines in bash, with what stands in for the services of others, and for what a person types. */
async function follow(guide: string): Promise<string[]> {
  const code = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)]
    .map(([, block = ""]) => block)
    .join("")
    .replaceAll(/^read .*$/gm, "")
    .replaceAll("http://127.0.0.1:8080", gantry.url)
    .replaceAll("https://example.com/hook", `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`)
    .replaceAll("tenant.example.com", tenant.domain);
  const typed = {
    KEY: gantry.adminKey,
    TOKEN: tenant.issue(allScopes),
    SERVER: tools.url,
    SERVER_TOKEN: "their-token",
  };
  const env = { ...process.env, ...typed };
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", code], { cwd: room, env });
  return stdout.split("\n");
}

test.runIf(hasCurl).each(names)(
  "what docs/guides/%s shows is what happens",
  async (name) => {
    const guide = await textOf(name);
    const said = await follow(guide);
    const promised = [...guide.matchAll(/# → (.+)$/gm)].map(([, answer]) => answer);
    expect(promised.length).toBeGreaterThan(2);
    // Between them stands what is shown and not promised.
    const wanted = new Set(promised);
    expect(said.filter((line) => wanted.has(line))).toEqual(promised);
  },
  60_000,
);

test.runIf(hasCurl)(
  "the check of a webhook's signature holds for what was delivered, and for nothing else",
  async () => {
    await waitFor("the delivery", () => delivered.length > 0);
    const [, code] = /^```js\n(.*?)^```$/ms.exec(await textOf("predictions.md")) ?? [];
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(`${code}; export { isGenuine };`)}`);
    const { secrets } = (await gantry.call("GET", "/api/v2/webhooks/secret")).body;
    const [{ headers, body } = expect.fail("no delivery")] = delivered;
    expect(JSON.parse(body)).toMatchObject({ model: "gantry/image", infer_details: { status: 200 } });
    expect(isGenuine(secrets[0], headers, body)).toBe(true);
    expect(isGenuine(secrets[0], headers, `${body} `)).toBe(false);
  },
);
