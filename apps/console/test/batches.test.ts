import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { test } from "./support/console-test.ts";
import { rowOf } from "./support/on-page.ts";

const endpoint = "/v1/chat/completions";
const lineOf = (id: string) => ({
  custom_id: id,
  method: "POST",
  url: endpoint,
  body: { model: "gantry/rules", messages: [{ role: "user", content: "Hello" }] },
});

test("a batch is listed, read and downloaded, and its predictions lead to it", async ({ gantry, pageOf }) => {
  const key = await gantry.newUser("batcher");
  const create = async (lines: readonly object[]): Promise<string> => {
    const file = new Blob([lines.map((line) => JSON.stringify(line)).join("\n")]);
    const uploaded = await gantry.call("POST", "/v1/files", { key, form: { purpose: "batch", file } });
    const json = { input_file_id: uploaded.body.id, endpoint, completion_window: "24h", metadata: { job: "nightly" } };
    return (await gantry.call("POST", "/v1/batches", { key, json })).body.id;
  };
  const page = await pageOf(key);
  await page.goto("/console/batches");
  await page.getByText("No batches yet").waitFor();
  const [good, bad] = [await create([lineOf("a"), lineOf("b")]), await create([lineOf("a"), lineOf("a")])];
  await page.reload();
  await rowOf(page, "Batches", good).getByText("Completed").waitFor();
  await rowOf(page, "Batches", good).getByText("2 of 2").waitFor();
  await rowOf(page, "Batches", bad).getByText("Failed").waitFor();

  await page.getByRole("link", { name: bad }).click();
  await rowOf(page, "Problems in the input file", "duplicate_custom_id").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: good }).click();
  await page.getByText("nightly").waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Results" }).click();
  const saved = await readFile(await (await downloading).path(), "utf8");
  const [first] = saved.split("\n").map((line) => (line === "" ? undefined : JSON.parse(line)));
  expect(first).toMatchObject({ custom_id: "a", response: { status_code: 200 } });

  await page.goto(`/console/predictions/${first.response.request_id}`);
  await page.getByRole("link", { name: good }).click();
  await page.getByRole("heading", { name: "Batch", exact: true }).waitFor();
  await page.getByText(good).waitFor();
});
