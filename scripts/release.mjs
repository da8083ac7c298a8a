/**
 * Prepares a release: checks, sets the version, writes the changelog, builds and packs, and commits the version.
 * `npm run release -- 0.2.0` (or patch, minor, major). Publishes nothing; that is `npm run release -- --publish`.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addSection, changelogSection, nextVersion, unreleasedNotes } from "./changelog.mjs";
import { published } from "./package-manifest.mjs";
import { root, run, setUp } from "./set-up.mjs";

const manifestFile = join(root, "package.json");
const changelogFile = join(root, "CHANGELOG.md");
const dist = join(root, "dist");
/** Says which commit the tarballs were built from. */
const recordFile = join(dist, "release.json");

const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
const hashOf = (name) =>
  createHash("sha512")
    .update(readFileSync(join(dist, name)))
    .digest("base64");

function refuseDirtyTree() {
  if (git("status", "--porcelain") === "") return;
  throw new Error("The working tree has changes that are not committed. Commit or stash them first.");
}

function lastTag() {
  // Without the suffix, Git sorts v1.0.0-beta.1 after v1.0.0.
  const tags = git("-c", "versionsort.suffix=-", "tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname");
  return tags === "" ? undefined : tags.split("\n")[0];
}

function writeVersion(version) {
  const text = readFileSync(manifestFile, "utf8");
  writeFileSync(manifestFile, text.replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`));
}

function writeChangelog(version) {
  const tag = lastTag();
  const subjects = git("log", "--no-merges", "--format=%s", ...(tag === undefined ? [] : [`${tag}..HEAD`])).split("\n");
  const date = new Date().toISOString().slice(0, 10);
  const before = existsSync(changelogFile) ? readFileSync(changelogFile, "utf8") : "";
  const notes = unreleasedNotes(before);
  const section = changelogSection({ version, date, subjects, isFirst: tag === undefined, notes });
  writeFileSync(changelogFile, addSection(before, section));
}

async function prepare(wanted) {
  refuseDirtyTree();
  const version = nextVersion(JSON.parse(readFileSync(manifestFile, "utf8")).version, wanted);
  if (git("tag", "--list", `v${version}`) !== "")
    throw new Error(`Version ${version} is released: tag v${version} exists.`);
  const node = setUp();
  const runScript = async (script, ...args) => {
    const code = await run(node, [join(root, "scripts", script), ...args], { node });
    if (code !== 0) throw new Error(`scripts/${script} failed. Nothing was released.`);
  };
  await runScript("check.mjs");
  await runScript("test.mjs", "apps/server/test/docs");
  const changed = [manifestFile, changelogFile];
  const isNew = !existsSync(changelogFile);
  try {
    writeVersion(version);
    writeChangelog(version);
    await runScript("pack.mjs");
    await runScript("check-packages.mjs");
  } catch (error) {
    git("checkout", "--", ...(isNew ? [manifestFile] : changed));
    if (isNew) git("clean", "-fq", "--", changelogFile);
    throw error;
  }
  git("add", ...changed);
  git("commit", "-q", "-m", `release: version ${version}`);
  const tarballs = readdirSync(dist).filter((name) => name.endsWith(".tgz"));
  const record = {
    version,
    commit: git("rev-parse", "HEAD"),
    hashes: Object.fromEntries(tarballs.map((name) => [name, hashOf(name)])),
  };
  writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`);
  console.log(
    `\nVersion ${version} is committed, and its packages are in ${dist}. Review CHANGELOG.md, then publish with:`,
  );
  console.log("  npm run release -- --publish");
}

/** The tarballs of HEAD in the order of their dependencies. */
function tarballsOfHead() {
  refuseDirtyTree();
  const record = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, "utf8")) : undefined;
  const isOfHead = record?.commit === git("rev-parse", "HEAD");
  const isSame = (name) => existsSync(join(dist, name)) && hashOf(name) === record.hashes[name];
  if (!isOfHead || !Object.keys(record.hashes).every(isSame)) {
    throw new Error(`${dist} has no packages of this commit. Prepare them first: npm run release -- VERSION`);
  }
  const { version } = record;
  const names = Object.keys(published).map((name) =>
    Object.keys(record.hashes).find((file) => file.endsWith(`-${name}-${version}.tgz`)),
  );
  return { version, names };
}

/** A registry refuses a version that it has. After a failure in between, the rest can be published. */
function isPublished(name) {
  const manifest = JSON.parse(
    execFileSync("tar", ["-xzOf", join(dist, name), "package/package.json"], { encoding: "utf8" }),
  );
  try {
    const found = execFileSync("npm", ["view", `${manifest.name}@${manifest.version}`, "dist.integrity", "--json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return found.includes(hashOf(name));
  } catch {
    return false;
  }
}

function publish() {
  const { version, names } = tarballsOfHead();
  // Without a tag of its own a pre-release would become the version that npm installs by default.
  const tag = version.includes("-") ? ["--tag", "next"] : [];
  for (const name of names) {
    if (isPublished(name)) console.log(`${name} is already published.`);
    else execFileSync("npm", ["publish", join(dist, name), ...tag], { stdio: "inherit" });
  }
  if (git("tag", "--list", `v${version}`) === "") git("tag", `v${version}`);
  console.log(`\nPublished, and tagged v${version} here. Push both: git push origin HEAD v${version}`);
}

try {
  const [wanted = ""] = process.argv.slice(2);
  if (wanted === "--publish") publish();
  else await prepare(wanted);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
