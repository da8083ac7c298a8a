import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const { addSection, changelogSection, nextVersion, unreleasedNotes } = await import(
  join(root, "scripts", "changelog.mjs")
);

const repository = mkdtempSync(join(tmpdir(), "gantry-release-"));
afterAll(() => rmSync(repository, { recursive: true, force: true }));

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", ...args], { cwd: repository });

test("the changelog groups commits by scope and leaves out what users do not see", () => {
  const subjects = [
    "runs: continue after a restart",
    "test: wait for the answer",
    "sdk, docs: retry uploads",
    "bench, sdk: measure retries",
    "runs: test a restart",
    "Merge of two branches",
  ];
  const section = changelogSection({ version: "1.2.0", date: "2026-11-18", subjects, isFirst: false });
  expect(section).toBe(
    [
      "## 1.2.0 (2026-11-18)",
      "",
      ...["### runs", "", "- Continue after a restart", ""],
      ...["### sdk", "", "- Retry uploads", "- Measure retries", ""],
    ].join("\n"),
  );
  const both = addSection(addSection("# Changelog\n", section), section.replace("1.2.0", "1.3.0"));
  expect(both.match(/^#{1,2} .*$/gm)).toEqual(["# Changelog", "## 1.3.0 (2026-11-18)", "## 1.2.0 (2026-11-18)"]);

  const written = both.replace("\n## 1.3.0", "\n## Unreleased\n\n### News\n\n- Teams\n\n## 1.3.0");
  const notes = unreleasedNotes(written);
  expect([notes, unreleasedNotes(both), unreleasedNotes("# Changelog\n\n## Unreleased\n\nAll.\n")]).toEqual([
    ...["### News\n\n- Teams", "", "All."],
  ]);
  const next = changelogSection({ version: "1.4.0", date: "2026-11-19", subjects: [], isFirst: false, notes });
  expect(next).toBe("## 1.4.0 (2026-11-19)\n\n### News\n\n- Teams\n");
  expect(addSection(written, next)).toBe(both.replace("\n## 1.3.0", `\n${next}\n## 1.3.0`));
});

test("a version is given, or a part of the current one is raised", () => {
  expect(["patch", "minor", "major", "3.0.0-beta.1"].map((wanted) => nextVersion("1.2.3", wanted))).toEqual([
    "1.2.4",
    "1.3.0",
    "2.0.0",
    "3.0.0-beta.1",
  ]);
  expect(() => nextVersion("1.2.3", "latest")).toThrow("Name a version");
});

test("a release refuses changes that are not committed, and to publish packages of another commit", () => {
  cpSync(join(root, "scripts"), join(repository, "scripts"), { recursive: true });
  writeFileSync(join(repository, "package.json"), readFileSync(join(root, "package.json")));
  writeFileSync(join(repository, ".gitignore"), "dist/\n");
  git("init", "-q");
  git("add", ".");
  git("commit", "-q", "-m", "build: begin");
  const release = (...args: string[]) =>
    spawnSync(process.execPath, ["scripts/release.mjs", ...args], { cwd: repository, encoding: "utf8" });

  const early = release("--publish");
  expect([early.status, early.stderr]).toEqual([1, expect.stringContaining("has no packages of this commit")]);
  mkdirSync(join(repository, "dist"));
  const record = { version: "1.0.0", commit: "0".repeat(40), hashes: {} };
  writeFileSync(join(repository, "dist", "release.json"), JSON.stringify(record));
  expect(release("--publish").stderr).toContain("has no packages of this commit");

  git("tag", "v9.0.0");
  expect(release("9.0.0").stderr).toContain("tag v9.0.0 exists");
  writeFileSync(join(repository, "new.txt"), "new");
  const dirty = release("9.0.1");
  expect([dirty.status, dirty.stderr]).toEqual([1, expect.stringContaining("not committed")]);
});
