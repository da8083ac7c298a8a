import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";

let gantry: GantryNode;
beforeAll(async () => {
  gantry = await startGantry();
  const described = { description: `Paints harbours and Semaphores. ${"More words. ".repeat(300)}` };
  const chat = chatModel("http://127.0.0.1:9/v1");
  await createModels(gantry, {
    first: { ...chat, title: "Quiet", ...described },
    second: { ...chat, title: "Loud" },
    third: { ...chat, title: "Hidden", visibility: "private", ...described },
  });
});
afterAll(() => gantry.close());

async function found(q: string, key = gantry.adminKey): Promise<string[]> {
  const { body } = await gantry.call("GET", `/api/v1?q=${encodeURIComponent(q)}`, { key });
  expect(body.total_count).toBe(body.results.length);
  return body.results.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id);
}

test("models are found by name, title and description", async () => {
  expect(await found("admin/fir")).toEqual(["admin/first"]);
  expect(await found("LOUD")).toEqual(["admin/second"]);
  expect(await found("semaphore")).toEqual(["admin/first", "admin/third"]);
  expect(await found("harbours and %")).toEqual([]);
});

test("descriptions of private models are searched by their owner only", async () => {
  expect(await found("semaphore", await gantry.newUser("reader"))).toEqual(["admin/first"]);
});
