import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { selfSigned } from "../../server/src/engines/net/self-signed.fixture.ts";
import { type EverythingServer, everythingServer } from "../../server/src/engines/tools/everything-server.fixture.ts";
import { serveTenant, type TenantServer } from "../../server/src/features/connectors/idp/tenant-server.fixture.ts";
import { consoleTest } from "./support/console-test.ts";
import { descriptionOf, rowOf, soon, toast } from "./support/on-page.ts";

let folder: string;
let tools: EverythingServer;
let tenant: TenantServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-console-tools-"));
  tools = await everythingServer("streamable_http");
  tenant = await serveTenant(selfSigned);
});
afterAll(async () => {
  await tools.kill();
  await tenant.close();
  await rm(folder, { recursive: true, force: true });
});

/** The server trusts the certificate of the test tenant. */
const test = consoleTest(async () => {
  const authority = join(folder, "authority.pem");
  await writeFile(authority, selfSigned.cert);
  return { GANTRY_EXTRA_CA: authority };
});

test("a tool server is connected, its tools are listed, and it is deleted", async ({ gantry, page }) => {
  await page.goto("/console/tool-servers");
  await page.getByRole("button", { name: "Connect server" }).click();
  const form = page.getByRole("dialog", { name: "Connect tool server" });
  const add = form.getByRole("button", { name: "Connect", exact: true });
  await form.getByLabel("Name").fill("not a name");
  await form.getByLabel("URL").fill(tools.url);
  expect(await descriptionOf(form.getByLabel("URL"))).toContain("Private addresses work only if the operator allows");
  await add.click();
  await soon(() => form.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
  await form.getByLabel("Name").fill("everything");
  await add.click();
  await toast(page, "Tool server connected").waitFor();
  await page.getByRole("heading", { name: /^Tools \(\d+\)$/ }).waitFor();
  await page.getByLabel("Search tools").fill("echo");
  await page.getByText("echo", { exact: true }).click();
  await page.getByText("everything__echo").waitFor();

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete everything?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByText("No tool servers yet").waitFor();
  expect((await gantry.call("GET", "/v1/mcp-servers")).body.total).toBe(0);
});

test("files of a drive are uploaded, previewed, downloaded and deleted", async ({ gantry, page }) => {
  await page.goto("/console/drives");
  await page.getByRole("button", { name: "New drive" }).click();
  const form = page.getByRole("dialog", { name: "New drive" });
  await form.getByLabel("Name").fill("Shelf");
  await form.getByRole("button", { name: "Create drive" }).click();
  await page.getByText("This drive is empty").waitFor();

  const bytes = randomBytes(100_000);
  const note = { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("Read me: žluť") };
  const upload = page.getByLabel("Files to upload");
  await upload.setInputFiles([{ name: "data.bin", mimeType: "application/octet-stream", buffer: bytes }, note]);
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Folder").fill("/papers");
  await dialog.getByRole("button", { name: "Upload" }).click();
  await page.getByRole("dialog", { name: "Upload finished" }).getByRole("button", { name: "Close" }).last().click();

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
  const saved = join(folder, "saved.bin");
  await download.saveAs(saved);
  expect(bytes.equals(await readFile(saved))).toBe(true);

  await rowOf(page, files, "data.bin").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete data.bin?" }).getByRole("button", { name: "Delete" }).click();
  await soon(() => rowOf(page, files, "data.bin").count()).toBe(0);
  await page.getByRole("button", { name: "Delete folder" }).click();
  await dialog.getByRole("button", { name: "Delete folder" }).click();
  await page.getByText("This drive is empty").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No drives yet").waitFor();
  expect((await gantry.call("GET", "/v1/drives")).body.total).toBe(0);
});

test("a write to an identity tenant is previewed and sent only after confirmation", async ({ page }) => {
  const token = tenant.issue(["read:roles", "update:roles"]);
  await page.goto("/console/identity");
  await page.getByRole("button", { name: "Connect tenant" }).click();
  const form = page.getByRole("dialog", { name: "Connect tenant" });
  await form.getByLabel("Domain").fill(tenant.domain);
  await form.getByLabel("Token").fill(token);
  await form.getByRole("button", { name: "Connect tenant" }).click();
  await page.getByRole("heading", { name: tenant.domain }).waitFor();
  expect(await page.content()).not.toContain(token);

  await page.getByLabel("Search actions").fill("role_get");
  await page.getByRole("link", { name: /^idp_role_get/ }).click();
  await page.getByLabel("id", { exact: false }).fill("rol_1");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("status").getByText('"name": "editor"').waitFor();

  await page.goto("/console/identity/idp_role_update");
  await page.getByLabel("id (required)").fill("rol_1");
  await page.getByLabel("description").fill("Edits texts");
  const written = () => tenant.seen.filter(({ method }) => method === "PATCH");
  await page.getByRole("button", { name: "Preview" }).click();
  const preview = page.getByRole("dialog", { name: `Send this to ${tenant.domain}?` });
  await preview.getByText(/^PATCH .*\/roles\/rol_1$/).waitFor();
  const change = rowOf(page, "Changes", "description");
  expect(await change.getByRole("cell").allInnerTexts()).toEqual(["description", "Edits", "Edits texts"]);
  await preview.getByRole("button", { name: "Cancel" }).click();
  expect(written()).toEqual([]);

  await page.getByRole("button", { name: "Preview" }).click();
  await preview.getByRole("button", { name: "Send" }).click();
  await toast(page, "idp_role_update done").waitFor();
  await page.getByRole("status").getByText('"description": "Edits texts"').waitFor();
  expect(written()).toMatchObject([{ body: { description: "Edits texts" } }]);
});
