import { execFile, execFileSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText } from "ai";
import OpenAI from "openai";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as sdk from "../../../../packages/sdk/src/index.ts";
import { selfSigned } from "../../src/engines/net/self-signed.fixture.ts";
import { type ScriptedServer, scriptedServer } from "../../src/engines/tools/scripted-server.fixture.ts";
import { serveTenant, type TenantServer } from "../../src/features/connectors/idp/tenant-server.fixture.ts";
import { accessTable } from "../../src/http/foundation/access-table.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { allScopes } from "../support/idp-connector.ts";
import { isFile, provide } from "../support/system-packages.ts";
import { waitFor } from "../support/wait-for.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const hasCurl = await provide({ name: "curl", packages: ["curl"], isThere: () => isFile("/usr/bin/curl") });
const textOf = (page: string) => readFile(join(root, page), "utf8");

/** Commands that cannot run here, by page and start of line. */
const notRun: readonly [page: string, command: string, reason: string][] = [
  ["README.md", "npm start", "starts a server: installation.test.ts"],
  ["README.md", "npm test", "is the test run"],
  ["docs/start.md", "npm start", "starts a server: installation.test.ts"],
  ["docs/operate/install.md", "npx @gantry/cli", "installs packages: packages.test.ts"],
  ["docs/guides/typescript.md", "npm install", "installs packages: packages.test.ts"],
  ["packages/sdk/README.md", "npm install", "installs packages: packages.test.ts"],
  ["docs/guides/your-models.md", "curl -sN $URL/api/v1/admin/claude", "needs the Anthropic API"],
];
const pagesNotRun: Readonly<Record<string, string>> = {
  "CONTRIBUTING.md": "runs tests and servers",
  "apps/server/README.md": "installs packages: packages.test.ts",
  "deploy/README.md": "needs Docker, Kubernetes, or systemd with root",
  "docs/contribute/release.md": "commits and publishes",
  "docs/guides/models/cog.md": "needs a Cog container",
  "packages/cli/README.md": "installs packages: packages.test.ts",
  "docs/contribute/soak.md": "runs for an hour",
  "docs/operate/growth.md": "fills databases for half an hour",
  "docs/operate/processes.md": "starts a server and a benchmark",
};

const commandsOf = (text: string) =>
  [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block).join("");
const allPages = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).trim().split("\n");
const pages: string[] = [];
for (const page of allPages) if (commandsOf(await textOf(page)) !== "" && !(page in pagesNotRun)) pages.push(page);

const delivered: { headers: IncomingHttpHeaders; body: string }[] = [];
const receiver = createServer(async (request, response) => {
  const body = (await Array.fromAsync(request)).join("");
  delivered.push({ headers: request.headers, body });
  response.end();
});
let folder: string;
let gantry: GantryNode;
let tenant: TenantServer;
let tools: ScriptedServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-docs-"));
  await writeFile(join(folder, "authority.pem"), selfSigned.cert);
  gantry = await startGantry({ env: { GANTRY_EXTRA_CA: join(folder, "authority.pem") } });
  [tenant, tools] = await Promise.all([serveTenant(selfSigned), scriptedServer()]);
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await gantry.close();
  receiver.close();
  await Promise.all([tenant.close(), tools.close(), rm(folder, { recursive: true })]);
});

const npx = `npx() { shift; "${process.execPath}" "${join(root, "packages/cli/src/main.ts")}" "$@"; }\n`;

/** Runs the commands of a page in bash, in a folder of its own. Answers the folder and the lines that were printed. */
async function follow(page: string): Promise<{ cwd: string; printed: string[] }> {
  const skipped = notRun.filter(([of]) => of === page).map(([, command]) => command);
  const code = commandsOf(await textOf(page))
    .split("\n")
    .filter((line) => !line.startsWith("read ") && !skipped.some((command) => line.startsWith(command)))
    .join("\n")
    .replaceAll("http://127.0.0.1:8080", gantry.url)
    .replaceAll("https://example.com/hook", `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`)
    .replaceAll("tenant.example.com", tenant.domain)
    .replaceAll("@examples/", `@${root}/examples/`);
  const typed = {
    KEY: gantry.adminKey,
    TOKEN: tenant.issue(allScopes),
    SERVER: tools.url,
    SERVER_TOKEN: "their-token",
  };
  const settings = {
    ...{ DATABASE_URL: gantry.databaseUrl, GANTRY_HOME: gantry.home },
    ...{ GANTRY_URL: gantry.url, GANTRY_KEY: gantry.adminKey },
  };
  const cwd = join(folder, page.replaceAll("/", "-"));
  await mkdir(cwd);
  // A page starts a dozen processes of the same program.
  const env = { ...process.env, ...typed, ...settings, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", npx + code], { cwd, env });
  return { cwd, printed: stdout.split("\n") };
}

test("exceptions name commands that exist", async () => {
  for (const [page, command] of notRun) expect(commandsOf(await textOf(page))).toContain(`${command}`);
  for (const page of Object.keys(pagesNotRun)) expect(commandsOf(await textOf(page))).not.toBe("");
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/start.md", "docs/operate/backup.md"]));
});

test.runIf(hasCurl).each(pages.filter((page) => page !== "README.md"))(
  "the commands of %s print what it shows",
  async (page) => {
    const promised = [...(await textOf(page)).matchAll(/# → (.+)$/gm)].map(([, output]) => output);
    const { printed } = await follow(page);
    // Other lines are printed but not promised.
    const wanted = new Set(promised);
    expect(printed.filter((line) => wanted.has(line))).toEqual(promised);
  },
  // A page may start a dozen processes.
  180_000,
);

test.runIf(hasCurl)("the README paints a picture, streams an answer and runs an agent", async () => {
  const { cwd, printed } = await follow("README.md");
  const picture = await readFile(join(cwd, "first.jpg"));
  expect(picture.subarray(0, 3).toString("hex")).toBe("ffd8ff");
  expect(printed.join("\n")).toContain("408");
  expect(printed).toEqual(expect.arrayContaining(["run_javascript: [1,4,9]", "6 * 7 = 42"]));
});

test.runIf(hasCurl)("the signature check of the guide accepts a delivery, and nothing else", async () => {
  await waitFor("the delivery", () => delivered.length > 0);
  const [, code] = /^```js\n(.*?)^```$/ms.exec(await textOf("docs/guides/predictions.md")) ?? [];
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(`${code}; export { isGenuine };`)}`);
  const { secrets } = (await gantry.call("GET", "/api/v2/webhooks/secret")).body;
  const [{ headers, body } = expect.fail("no delivery")] = delivered;
  expect(JSON.parse(body)).toMatchObject({ model: "gantry/image", infer_details: { status: 200 } });
  expect(isGenuine(secrets[0], headers, body)).toBe(true);
  expect(isGenuine(secrets[0], headers, `${body} `)).toBe(false);
});

test.each([
  ["packages/sdk/README.md", 14],
  ["docs/guides/typescript.md", 1],
  ["docs/guides/clients/typescript.md", 3],
])("the programs of %s print what it shows", async (page, least) => {
  const text = await textOf(page);
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  expect(blocks.length).toBeGreaterThanOrEqual(least);
  const png = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#2060c0" } })
    .png()
    .toBuffer();
  const reportPath = join(folder, "report.csv");
  await writeFile(reportPath, "year,ships\n1907,12\n");
  const printed: string[] = [];
  const given = {
    ...sdk,
    ...{ OpenAI, Anthropic, createOpenAI, generateText },
    createReadStream,
    process: { env: { GANTRY_URL: gantry.url, GANTRY_KEY: gantry.adminKey } },
    console: { log: (...values: unknown[]) => printed.push(values.join(" ")) },
    photo: new File([new Uint8Array(png)], "photo.png"),
    reportPath,
    toolServerUrl: tools.url,
    domain: tenant.domain,
    token: tenant.issue(allScopes),
  };
  const code = blocks.join("\n").replaceAll(/^import .* from "[@\w:/-]+";$/gm, "");
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (...args: unknown[]) => Promise<void>;
  await new AsyncFunction(...Object.keys(given), code)(...Object.values(given));
  expect(printed).toEqual([...text.matchAll(/console\.log\(.*\/\/ (.+)$/gm)].map(([, output]) => output));
});

test("every route that a page names exists", async () => {
  const parameters = (path: string) => path.replaceAll(/\{[^}]+\}/g, "{}");
  const documents = ["/api/v1", "/api/v2", "/v1", "/v1/doors", "/api/v1/gantry/image", "/api/v1/gantry/text"];
  const routes = new Set(["GET /docs/errors", "GET /docs/manifest.schema.json"]);
  // Apps find them by metadata, not by the documents.
  for (const route of Object.keys(accessTable).filter((row) => row.includes(" /oauth/"))) routes.add(route);
  for (const document of documents) {
    const { paths, servers } = (await gantry.call("GET", `${document}/openapi.json`)).body;
    const base = new URL(servers[0].url).pathname.replace(/\/$/, "");
    for (const [path, methods] of Object.entries<object>(paths))
      for (const method of Object.keys(methods))
        routes.add(`${method.toUpperCase()} ${parameters(path === "/" ? base : base + path)}`);
  }
  const named = await Promise.all(
    allPages.map(async (page) =>
      [...(await textOf(page)).matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^\s`?]*)/g)].map(([, name = ""]) => ({
        page,
        name,
      })),
    ),
  );
  expect(named.flat().length).toBeGreaterThan(30);
  expect(named.flat().filter(({ name }) => !routes.has(parameters(name)))).toEqual([]);
});
