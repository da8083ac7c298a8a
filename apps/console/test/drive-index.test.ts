import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { rowOf, soon, toast } from "./support/on-page.ts";

test("a drive is renamed, indexed and searched, and failed files have reasons", async ({ gantry, page }) => {
  const drive = (await gantry.call("POST", "/v1/drives", { json: { name: "Handbook" } })).body.id;
  const upload = async (path: string, content: string) => {
    const form = { path, file: new Blob([content]) };
    expect((await gantry.call("POST", `/v1/drives/${drive}/files`, { form })).status).toBe(201);
  };
  await upload("/travel.md", "# Travel\n\nBook trains three weeks ahead.\n\n## Hotels\n\nAt most 140 euros a night.\n");
  await upload("/broken.pdf", "%PDF-1.4 this is not a document");
  await page.goto(`/console/drives/${drive}`);
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Name (required)").fill("Team handbook");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Team handbook", level: 1 }).waitFor();

  expect(await page.getByRole("searchbox", { name: "Search in files" }).count()).toBe(0);
  await page.getByRole("button", { name: "Turn on search" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Turn on search" }).click();
  await toast(page, "Indexing started").waitFor();
  await page.getByText("Ready", { exact: true }).waitFor({ timeout: 30_000 });
  await page.getByText("1 file failed").click();
  await soon(() => rowOf(page, "1 file failed", "broken.pdf").innerText()).toMatch(/broken\.pdf\s+\S+/);

  await page.getByRole("searchbox", { name: "Search in files" }).fill("hotels night");
  await page.keyboard.press("Enter");
  const result = page.getByRole("list", { name: "Results" }).getByRole("listitem").first();
  await result.getByText("140 euros").waitFor();
  expect(await result.innerText()).toMatch(/\/travel\.md\s+lines? \d+/);
  await result.getByRole("link", { name: "/travel.md" }).click();
  await page.getByRole("dialog", { name: "travel.md" }).getByText("Book trains three weeks ahead.").waitFor();
  await page.keyboard.press("Escape");
  await result.waitFor();

  // A version that an agent wrote meanwhile is not replaced.
  await result.getByRole("link", { name: "/travel.md" }).click();
  const file = page.getByRole("dialog", { name: "travel.md" });
  await file.getByRole("button", { name: "Edit" }).click();
  const path = `/v1/drives/${drive}/files/travel.md`;
  await gantry.call("DELETE", path);
  await upload("/travel.md", "Written by an agent");
  await file.getByLabel("Content").fill("Trains only");
  await file.getByRole("button", { name: "Save" }).click();
  await file.getByText("Someone else changed it meanwhile.").waitFor();
  await file.getByRole("button", { name: "Cancel" }).click();
  await file.getByText("Written by an agent").waitFor();
  await file.getByRole("button", { name: "Edit" }).click();
  await file.getByLabel("Content").fill("Trains only");
  await file.getByRole("button", { name: "Save" }).click();
  await toast(page, "travel.md saved").waitFor();
  expect((await gantry.call("GET", path)).text).toBe("Trains only");
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Rebuild" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rebuild" }).click();
  await toast(page, "Indexing all files again").waitFor();
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
  await page.getByRole("button", { name: "Turn on search" }).waitFor();
  expect((await gantry.call("GET", `/v1/drives/${drive}`)).body).toMatchObject({ name: "Team handbook", index: null });
}, 120_000);
