import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as sdk from "../../../../packages/sdk/src/index.ts";
import { selfSigned } from "../../src/engines/net/self-signed.fixture.ts";
import { type ScriptedServer, scriptedServer } from "../../src/engines/tools/scripted-server.fixture.ts";
import { serveTenant, type TenantServer } from "../../src/features/connectors/idp/tenant-server.fixture.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { allScopes } from "../support/idp-connector.ts";

let folder: string;
let gantry: GantryNode;
let tenant: TenantServer;
let server: ScriptedServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-readme-"));
  await writeFile(join(folder, "authority.pem"), selfSigned.cert);
  gantry = await startGantry({ env: { GANTRY_EXTRA_CA: join(folder, "authority.pem") } });
  tenant = await serveTenant(selfSigned);
  server = await scriptedServer();
});
afterAll(async () => {
  await gantry.close();
  await Promise.all([tenant.close(), server.close(), rm(folder, { recursive: true })]);
});

test.each([
  ["packages/sdk/README.md", 14],
  ["docs/guides/typescript.md", 1],
])("the examples of %s print what it shows", async (page, least) => {
  const readme = await readFile(new URL(`../../../../${page}`, import.meta.url), "utf8");
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  expect(blocks.length).toBeGreaterThanOrEqual(least);
  const png = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#2060c0" } })
    .png()
    .toBuffer();
  const reportPath = join(folder, "report.csv");
  await writeFile(reportPath, "year,ships\n1907,12\n");
  const printed: string[] = [];
  const given = {
    ...sdk,
    createReadStream,
    process: { env: { GANTRY_URL: gantry.url, GANTRY_KEY: gantry.adminKey } },
    console: { log: (...values: unknown[]) => printed.push(values.join(" ")) },
    photo: new File([new Uint8Array(png)], "photo.png"),
    reportPath,
    toolServerUrl: server.url,
    domain: tenant.domain,
    token: tenant.issue(allScopes),
  };
  const code = blocks.join("\n").replaceAll(/^import .* from "[@\w:/]+";$/gm, "");
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (...args: unknown[]) => Promise<void>;
  await new AsyncFunction(...Object.keys(given), code)(...Object.values(given));
  expect(printed).toEqual([...readme.matchAll(/console\.log\(.*\/\/ (.+)$/gm)].map(([, output]) => output));
});
