import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { selfSigned } from "../../server/src/engines/net/self-signed.fixture.ts";
import { type EverythingServer, everythingServer } from "../../server/src/engines/tools/everything-server.fixture.ts";
import { serveTenant, type TenantServer } from "../../server/src/features/connectors/idp/tenant-server.fixture.ts";
import { consoleTest } from "./support/console-test.ts";
import { rowOf, soon, toast } from "./support/on-page.ts";

let room: string;
let tools: EverythingServer;
let tenant: TenantServer;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-console-tools-"));
  tools = await everythingServer("streamable_http");
  tenant = await serveTenant(selfSigned);
});
afterAll(async () => {
  await tools.kill();
  await tenant.close();
  await rm(room, { recursive: true, force: true });
});

/** On a server that trusts the certificate of the tests' tenant. */
const test = consoleTest(async () => {
  const authority = join(room, "authority.pem");
  await writeFile(authority, selfSigned.cert);
  return { GANTRY_EXTRA_CA: authority };
});

test("a tool server is added, its tools are seen, and it is deleted", async ({ gantry, page }) => {
  await page.goto("/console/tool-servers");
  await page.getByRole("button", { name: "Add a server" }).click();
  const form = page.getByRole("dialog", { name: "Add a tool server" });
  const add = form.getByRole("button", { name: "Add and connect" });
  await form.getByLabel("Name").fill("not a name");
  await form.getByLabel("Address").fill(tools.url);
  await add.click();
  await soon(() => form.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
  await form.getByLabel("Name").fill("everything");
  await add.click();
  await toast(page, "Added and connected").waitFor();
  await page.getByRole("heading", { name: /^Tools \(\d+\)$/ }).waitFor();
  await page.getByLabel("Find a tool").fill("echo");
  await page.getByText("echo", { exact: true }).click();
  await page.getByText("everything__echo").waitFor();

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete everything?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByText("No tool servers yet").waitFor();
  expect((await gantry.call("GET", "/v1/mcp-servers")).body.total).toBe(0);
});

test("a drive takes files, shows them, gives them back byte by byte, and lets them go", async ({ gantry, page }) => {
  await page.goto("/console/drives");
  await page.getByRole("button", { name: "New drive" }).click();
  const form = page.getByRole("dialog", { name: "New drive" });
  await form.getByLabel("Name").fill("Shelf");
  await form.getByRole("button", { name: "Make it" }).click();
  await page.getByText("The drive is empty").waitFor();

  const bytes = randomBytes(100_000);
  const note = { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("Read me: žluť") };
  const upload = page.getByLabel("Files to upload");
  await upload.setInputFiles([{ name: "data.bin", mimeType: "application/octet-stream", buffer: bytes }, note]);
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Folder").fill("/papers");
  await dialog.getByRole("button", { name: "Upload" }).click();
  await page.getByRole("dialog", { name: "Upload ended" }).getByRole("button", { name: "Close" }).last().click();

  await page.getByRole("link", { name: "papers" }).click();
  const files = "Files and folders";
  await rowOf(page, files, "note.txt").getByRole("link", { name: "note.txt" }).click();
  await page.getByRole("dialog", { name: "note.txt" }).getByText("Read me: žluť").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    rowOf(page, files, "data.bin").getByRole("button", { name: "Download" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("data.bin");
  const saved = join(room, "saved.bin");
  await download.saveAs(saved);
  expect(bytes.equals(await readFile(saved))).toBe(true);

  await rowOf(page, files, "data.bin").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete data.bin?" }).getByRole("button", { name: "Delete" }).click();
  await soon(() => rowOf(page, files, "data.bin").count()).toBe(0);
  await page.getByRole("button", { name: "Delete this folder" }).click();
  await dialog.getByRole("button", { name: "Delete this folder" }).click();
  await page.getByText("The drive is empty").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No drives yet").waitFor();
  expect((await gantry.call("GET", "/v1/drives")).body.total).toBe(0);
});

test("a tenant is connected and read; what would be written is shown first, and sent once it is confirmed", async ({
  page,
}) => {
  const token = tenant.issue(["read:roles", "update:roles"]);
  await page.goto("/console/identity");
  await page.getByRole("button", { name: "Connect a tenant" }).click();
  const form = page.getByRole("dialog", { name: "Connect a tenant" });
  await form.getByLabel("Domain").fill(tenant.domain);
  await form.getByLabel("Token").fill(token);
  await form.getByRole("button", { name: "Try and connect" }).click();
  await page.getByRole("heading", { name: tenant.domain }).waitFor();
  expect(await page.content()).not.toContain(token);

  await page.getByLabel("Find an action").fill("role_get");
  await page.getByRole("link", { name: /^idp_role_get/ }).click();
  await page.getByLabel("id", { exact: false }).fill("rol_1");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("status").getByText('"name": "editor"').waitFor();

  await page.goto("/console/identity/idp_role_update");
  await page.getByLabel("id (required)").fill("rol_1");
  await page.getByLabel("description").fill("Edits texts");
  const written = () => tenant.seen.filter(({ method }) => method === "PATCH");
  await page.getByRole("button", { name: "Preview" }).click();
  const question = page.getByRole("dialog", { name: `Send this to ${tenant.domain}?` });
  await question.getByText(/^PATCH .*\/roles\/rol_1$/).waitFor();
  const change = rowOf(page, "What changes", "description");
  expect(await change.getByRole("cell").allInnerTexts()).toEqual(["description", "Edits", "Edits texts"]);
  await question.getByRole("button", { name: "Cancel" }).click();
  expect(written()).toEqual([]);

  await page.getByRole("button", { name: "Preview" }).click();
  await question.getByRole("button", { name: "Yes, send it" }).click();
  await toast(page, "idp_role_update is done").waitFor();
  await page.getByRole("status").getByText('"description": "Edits texts"').waitFor();
  expect(written()).toMatchObject([{ body: { description: "Edits texts" } }]);
});
