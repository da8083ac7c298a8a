import { expect } from "vitest";
import { test } from "./support/console-test.ts";

test("every file of the page loads under its content security policy", async ({ visitor }) => {
  const loaded: string[] = [];
  visitor.on("response", (response) => loaded.push(`${response.status()} ${new URL(response.url()).pathname}`));
  await visitor.goto("/console/sign-in", { waitUntil: "networkidle" });
  const files = loaded.filter((line) => !line.includes("/console/api/"));
  expect(files.every((line) => line.startsWith("200 /console/"))).toBe(true);
  expect(files.map((line) => line.replace(/-[\w-]{8}\./, "-hash."))).toEqual(
    expect.arrayContaining(["200 /console/assets/index-hash.js", "200 /console/assets/index-hash.css"]),
  );
  // The style sheet is applied, not only loaded.
  const size = await visitor.evaluate("getComputedStyle(document.body).fontSize");
  expect(size).toBe("14px");
});

test("an injected script does not run", async ({ visit, visitor }) => {
  await visitor.goto("/console/sign-in");
  await visitor.evaluate(
    "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.wasRun = true' }))",
  );
  expect(await visitor.evaluate("window.wasRun")).toBeUndefined();
  await expect.poll(() => visit.troubles.join()).toContain("Content Security Policy");
  // The refusal is expected.
  visit.troubles.length = 0;
});
