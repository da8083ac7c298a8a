import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { descriptionOf, rowOf, soon, toast } from "./support/on-page.ts";

test("an alias is created, refused at its field, changed and deleted", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("namer");
  const page = await pageOf(key);
  await page.goto("/console/aliases");
  await page.getByText("No aliases yet").waitFor();
  await page.getByRole("button", { name: "New alias" }).click();
  const form = page.getByRole("dialog", { name: "New alias" });
  // Only admins may create aliases for everyone.
  expect(await form.getByLabel("Available to").count()).toBe(0);
  await form.getByLabel("Name").fill("a b");
  await form.getByLabel("Model or agent").fill("gantry/none");
  await form.getByRole("button", { name: "Save alias" }).click();
  await soon(() => descriptionOf(form.getByLabel("Name"))).toContain("An alias has 1 to 63 characters");
  expect(await descriptionOf(form.getByLabel("Model or agent"))).toContain("gantry/none does not exist");
  await form.getByLabel("Name").fill("gpt-4o");
  await form.getByLabel("Model or agent").fill("gantry/text");
  await form.getByRole("button", { name: "Save alias" }).click();
  await toast(page, "Alias gpt-4o saved").waitFor();
  await rowOf(page, "Aliases", "gantry/text").waitFor();

  await page.getByRole("button", { name: "Change gpt-4o" }).click();
  const change = page.getByRole("dialog", { name: "Change gpt-4o" });
  await change.getByLabel("Model or agent").fill("gantry/rules");
  await change.getByRole("button", { name: "Save alias" }).click();
  await rowOf(page, "Aliases", "gantry/rules").waitFor();
  const listed = async () => (await gantry.call("GET", "/api/v2/aliases", { key })).body.results;
  expect(await listed()).toMatchObject([{ name: "gpt-4o", model: "gantry/rules" }]);

  await rowOf(page, "Aliases", "gpt-4o").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No aliases yet").waitFor();
  expect(await listed()).toEqual([]);
});

test("an admin creates aliases for everyone, and agents can be saved with them", async ({ gantry, page, pageOf }) => {
  await page.goto("/console");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Aliases" }).click();
  await page.getByRole("button", { name: "New alias" }).click();
  const form = page.getByRole("dialog", { name: "New alias" });
  await form.getByLabel("Name").fill("smart");
  await form.getByLabel("Model or agent").fill("gantry/rules");
  await form.getByLabel("Available to").selectOption("everyone");
  await form.getByRole("button", { name: "Save alias" }).click();
  await toast(page, "Alias smart saved for everyone").waitFor();
  await page.getByRole("tab", { name: "Everyone" }).click();
  await rowOf(page, "Aliases", "smart").waitFor();
  expect((await gantry.call("GET", "/api/v2/admin/aliases")).body.results).toMatchObject([{ name: "smart" }]);
  expect((await gantry.call("GET", "/api/v2/aliases")).body.results).toEqual([]);

  const user = await pageOf(await gantry.newUser("builder"));
  await user.goto("/console/agents/new");
  await user.getByLabel("Name", { exact: false }).first().fill("Helper");
  await user.getByLabel("Goal (required)").fill("Help.");
  // Only admins can list aliases for everyone.
  await user.getByLabel("Model", { exact: true }).selectOption("Enter a name…");
  await user.getByLabel("Model name").fill("smart");
  await user.getByRole("button", { name: "Create agent" }).click();
  await user.getByRole("heading", { name: "Helper" }).waitFor();
  expect(await user.getByText("smart", { exact: true }).count()).toBeGreaterThan(0);
});
