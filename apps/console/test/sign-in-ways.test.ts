import { expect } from "vitest";
import { type OidcServer, startOidcServer } from "../../server/test/support/oidc-server.ts";
import { consoleTest } from "./support/console-test.ts";
import { rowOf, soon, toast } from "./support/on-page.ts";

let provider: OidcServer;
const test = consoleTest(async () => {
  provider = await startOidcServer();
  provider.people.set("nina", { groups: ["staff"] });
  provider.people.set("guest", {});
  return {
    ...provider.env,
    GANTRY_SIGN_IN: "password,oidc,key,link",
    GANTRY_OIDC_NAME: "Example ID",
    GANTRY_OIDC_CREATE_USERS: "1",
    GANTRY_OIDC_ALLOWED_GROUPS: "staff",
  };
});

const good = "a walk in the rain";
const better = "two walks in the snow";

test("a password opens the requested page; it is changed, and other sessions end", async ({
  gantry,
  visitor,
  pageOf,
}) => {
  const made = await gantry.call("POST", "/api/v2/admin/users", { json: { username: "rosa", password: good } });
  expect(made.status, made.text).toBe(201);
  const { key } = (await gantry.call("POST", "/api/v2/admin/users/rosa/keys", { json: { name: "laptop" } })).body;
  const other = await pageOf(key);
  await other.goto("/console/");

  await visitor.goto("/console/sessions");
  await visitor.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();
  expect(await visitor.getByRole("button", { name: "Sign in", exact: true }).isDisabled()).toBe(true);
  await visitor.getByLabel("Username").fill("rosa");
  await visitor.getByLabel("Password").fill("wrong");
  await visitor.getByRole("button", { name: "Sign in", exact: true }).click();
  await visitor.getByRole("alert").getByText("Wrong username or password.").waitFor();
  await visitor.getByLabel("Password").fill(good);
  await visitor.getByRole("button", { name: "Sign in", exact: true }).click();
  await visitor.getByRole("heading", { name: "Sessions" }).waitFor();

  await rowOf(visitor, "Sessions", "This session").getByText("Password").waitFor();
  await rowOf(visitor, "Sessions", "API key laptop").waitFor();
  await visitor.getByRole("button", { name: "Change password" }).click();
  const form = visitor.getByRole("dialog", { name: "Change password" });
  await form.getByLabel("Current password").fill("wrong");
  await form.getByLabel("New password", { exact: false }).first().fill("rosarosarosa");
  await form.getByLabel("Repeat new password").fill("rosa-rosa");
  await form.getByText("The passwords differ.").waitFor();
  await form.getByLabel("Repeat new password").fill("rosarosarosa");
  await form.getByRole("button", { name: "Change password" }).click();
  await form.getByText("Do not use your username as the password").waitFor();
  await form.getByLabel("New password", { exact: false }).first().fill(better);
  await form.getByLabel("Repeat new password").fill(better);
  await form.getByRole("button", { name: "Change password" }).click();
  await form.getByText("This is not your current password").waitFor();
  await form.getByLabel("Current password").fill(good);
  await form.getByRole("button", { name: "Change password" }).click();
  await toast(visitor, "Password changed. Your other sessions have ended.").waitFor();
  await soon(() => rowOf(visitor, "Sessions", "API key laptop").count()).toBe(0);
  await other.getByRole("link", { name: "Money" }).click();
  await other.getByRole("dialog", { name: "Your session has ended" }).waitFor();
});

test("an admin creates a reset link, which sets a password and signs in", async ({ gantry, pageOf, visitor }) => {
  await gantry.newUser("sara");
  const page = await pageOf(gantry.adminKey);
  await page.goto("/console/admin/users/sara");
  await page.getByRole("button", { name: "Create reset link" }).click();
  const dialog = page.getByRole("dialog", { name: "Password reset link for sara" });
  const link = await dialog.getByRole("code").innerText();
  await dialog.getByRole("button", { name: "I've copied it" }).click();
  await visitor.goto(link);
  await visitor.getByRole("heading", { name: "Set a new password" }).waitFor();
  expect(new URL(visitor.url()).hash).toBe("");
  await visitor.getByLabel("New password", { exact: false }).first().fill(good);
  await visitor.getByLabel("Repeat new password").fill(good);
  await visitor.getByRole("button", { name: "Set password" }).click();
  await visitor.getByRole("navigation", { name: "Main" }).waitFor();
  await page.reload();
  const session = rowOf(page, "Sessions", "Password");
  await session.getByRole("button", { name: "End" }).click();
  await page.getByRole("dialog", { name: "End this session?" }).getByRole("button", { name: "End" }).click();
  await soon(() => session.count()).toBe(0);
});

test("single sign-on returns to the requested page, and signs out at the provider", async ({ gantry, visitor }) => {
  provider.gantryUrls.push(gantry.url);
  // Pages of the provider ask for fonts of another site.
  await visitor.route(
    ({ hostname }) => hostname !== "127.0.0.1",
    (route) => route.fulfill({ status: 200, body: "" }),
  );
  await visitor.goto("/console/money");
  const enter = async (name: string) => {
    await visitor.getByRole("link", { name: "Sign in with Example ID" }).click();
    await visitor.locator("input[name=login]").fill(name);
    await visitor.locator("input[name=password]").fill("any");
    await visitor.locator("button[type=submit]").click();
    await visitor.locator("button[type=submit][autofocus], button[type=submit]").first().click();
  };
  await enter("nina");
  await visitor.getByRole("heading", { name: "Money" }).waitFor();
  expect(new URL(visitor.url()).pathname).toBe("/console/money");
  await visitor.getByText("nina", { exact: true }).waitFor();

  await visitor.getByRole("button", { name: "Sign out" }).click();
  await visitor.getByRole("button", { name: /yes/i }).click();
  await visitor.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();
  expect(new URL(visitor.url()).origin).toBe(gantry.url);

  await enter("guest");
  await visitor.getByRole("alert").getByText("may not use this server").waitFor();
  await provider.close();
});
