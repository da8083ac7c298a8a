import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const pages = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((page) => page !== "" && existsSync(join(root, page)));
const withoutCode = (text: string) => text.replaceAll(/^```.*?^```$/gms, "").replaceAll(/`[^`\n]*`/g, "");

/** Anchors as GitHub makes them from headings. */
function anchorsOf(page: string): Set<string> {
  const text = readFileSync(join(root, page), "utf8").replaceAll(/^```.*?^```$/gms, "");
  return new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

const links = pages.flatMap((page) =>
  [...withoutCode(readFileSync(join(root, page), "utf8")).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to = ""]) => ({ page, to }))
    .filter(({ to }) => !/^[a-z]+:/.test(to)),
);

test("every relative link leads to a file, and every anchor to a heading", () => {
  expect(links.length).toBeGreaterThan(150);
  const broken = links.filter(({ page, to }) => {
    const [path = "", anchor] = to.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !(statSync(join(root, target)).isFile() && anchorsOf(target).has(anchor));
  });
  expect(broken).toEqual([]);
});

test("docs/README.md lists every page", () => {
  const listed = new Set(
    links.filter(({ page }) => page === "docs/README.md").map(({ to }) => normalize(join("docs", to))),
  );
  const missing = pages.filter(
    (page) =>
      page.startsWith("docs/") && page !== "docs/README.md" && !/^docs\/decisions\/\d/.test(page) && !listed.has(page),
  );
  expect(missing).toEqual([]);
});

test("docs/decisions/README.md lists every decision", () => {
  const listed = new Set(links.filter(({ page }) => page === "docs/decisions/README.md").map(({ to }) => to));
  const decisions = pages.flatMap((page) => /^docs\/decisions\/(\d.*)$/.exec(page)?.[1] ?? []);
  expect(decisions.filter((decision) => !listed.has(decision))).toEqual([]);
});
