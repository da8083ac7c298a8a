import { expect } from "vitest";
import { test } from "./support/console-test.ts";

test("the browser takes everything that the page loads, and its policy refuses nothing", async ({ visitor }) => {
  const loaded: string[] = [];
  visitor.on("response", (response) => loaded.push(`${response.status()} ${new URL(response.url()).pathname}`));
  await visitor.goto("/console/sign-in", { waitUntil: "networkidle" });
  const files = loaded.filter((line) => !line.includes("/console/api/"));
  expect(files.every((line) => line.startsWith("200 /console/"))).toBe(true);
  expect(files.map((line) => line.replace(/-[\w-]{8}\./, "-hash."))).toEqual(
    expect.arrayContaining(["200 /console/assets/index-hash.js", "200 /console/assets/index-hash.css"]),
  );
  // Laid out by the style sheet, not only loaded.
  const size = await visitor.evaluate("getComputedStyle(document.body).fontSize");
  expect(size).toBe("14px");
});

test("a script that somebody brings into the page is not run", async ({ visit, visitor }) => {
  await visitor.goto("/console/sign-in");
  await visitor.evaluate(
    "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.wasRun = true' }))",
  );
  expect(await visitor.evaluate("window.wasRun")).toBeUndefined();
  await expect.poll(() => visit.troubles.join()).toContain("Content Security Policy");
  // It was meant to be refused.
  visit.troubles.length = 0;
});
