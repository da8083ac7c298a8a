import { expect } from "vitest";
import { test } from "./support/console-test.ts";

test("the sign-in page asks for a key", async ({ visitor }) => {
  await visitor.goto("/console/sign-in");
  await visitor.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();
  expect(await visitor.title()).toBe("Sign in · Gantry");
  expect(await visitor.getByRole("button", { name: "Sign in" }).isDisabled()).toBe(true);
  expect(await visitor.getByLabel("API key").getAttribute("type")).toBe("password");
});

test("a wrong key shows an error", async ({ visitor }) => {
  await visitor.goto("/console/sign-in");
  await visitor.getByLabel("API key").fill("gk_000000000000_wrong");
  await visitor.getByRole("button", { name: "Sign in" }).click();
  await visitor.getByRole("alert").waitFor();
  expect(await visitor.getByRole("alert").innerText()).toMatch(/Request req_/);
  expect(new URL(visitor.url()).pathname).toBe("/console/sign-in");
});

test("the root of the server leads to the sign-in page", async ({ visitor }) => {
  await visitor.goto("/");
  await visitor.getByRole("heading", { name: "Sign in to Gantry" }).waitFor();
  expect(new URL(visitor.url()).pathname).toBe("/console/sign-in");
});

test("a session opens the console", async ({ page }) => {
  await page.goto("/console/");
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/console/");
});
