import { expect, test } from "vitest";
import { documentOf, linkedSlug, nameInMenu, slugIn, slugOf, withConsoleLinks } from "./docs.rules.ts";

test("files have short addresses", () => {
  expect(slugOf("../../../../../docs/guides/agents.md")).toBe("guides/agents");
  expect(slugOf("../../../../../docs/guides/clients/README.md")).toBe("guides/clients");
  expect(slugOf("../../../../../docs/README.md")).toBe("");
  expect(slugIn(undefined)).toBe("start");
  expect(slugIn("guides/agents/")).toBe("guides/agents");
});

test("the first heading is the title of the page", () => {
  expect(documentOf("# Agents\n\nAn agent.\n")).toEqual({ title: "Agents", body: "\nAn agent.\n" });
  expect(documentOf("No heading").body).toBe("No heading");
});

test("pages have their titles in the menu", () => {
  expect(nameInMenu("start", "Start")).toBe("Start");
  expect(nameInMenu("guides/clients", "OpenAI and Anthropic clients")).toBe("OpenAI and Anthropic clients");
  expect(nameInMenu("guides/models/lm-studio", "LM Studio")).toBe("Models: LM Studio");
});

test("links between files lead to pages of the console", () => {
  expect(linkedSlug("../concepts/runs.md#steps", "guides/agents.md")).toBe("concepts/runs");
  expect(linkedSlug("curl.md", "guides/clients/README.md")).toBe("guides/clients/curl");
  expect(linkedSlug("https://example.com/a.md", "guides/agents")).toBeUndefined();
  expect(linkedSlug("../../deploy/docker-compose.yml", "guides/agents")).toBeUndefined();
});

test("links to what the console does not have become text", () => {
  const known = new Set(["concepts/runs"]);
  const address = (slug: string) => (known.has(slug) ? `https://here/console/docs/${slug}` : undefined);
  const body =
    "See [runs](../concepts/runs.md), [code](../../apps/main.ts), ![x](../images/a.jpg) [out](https://a.b/c).";
  expect(withConsoleLinks(body, "guides/agents", address)).toBe(
    "See [runs](https://here/console/docs/concepts/runs), code,  [out](https://a.b/c).",
  );
});
