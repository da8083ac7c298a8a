/**
 * Finds phrases that made earlier text of this project hard to read. Source, SQL and Markdown are searched: strings,
 * comments and prose. `docs/contribute/writing.md` explains the rules; `exceptions` lists text that has to stay.
 *
 * `node scripts/check-language.mjs [path…]` checks only files below the given paths.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const rules = [
  [
    /\b(?:is|are|was|were|be|been) no (?!longer\b|more\b|less\b|fewer\b|later\b|earlier\b|different\b|bigger\b|larger\b|need\b)/i,
    "negate the verb: “is not a …”, “does not exist”",
  ],
  [
    /\b(?:is|are|was|were|be) none\b|\b(?:has|have|had|there's) none\b|\bgives? none\b|\bnone of the allowed\b/i,
    "negate the verb: “does not exist”, “has no …”",
  ],
  [/\bwho(?:so)?ever\b/i, "name the person or program: “the caller”, “anyone who”"],
  [/\b(?:no|some)body\b/i, "name the person or program: “no caller”, “a user”"],
  [/\bof (?:its|their) own (?:that|which)\b/i, "split the sentence"],
  [/\b(?:is|are|was|were|be|been|being|gets?) told\b/i, "use “receives”, “is notified”, “shows”"],
  [/\bheed(?:s|ed)?\b/i, "use “watch”, “follow” or “obey”"],
  [/\bgoes by (?:its|the|a)\b/i, "use “is identified by”, “depends on”"],
  [/, neither\b|\bneither[.;]/i, "use “or”, “also not”"],
  [/\b(?:stands|stand) (?:in|at|under|on|there|beside|below|above)\b/i, "use “is”, “appears in”"],
  [/\bthat it is (?:kept|told|made)\b/i, "name the thing"],
  [
    /\b(?:for|to|from|with) whom\b|\bwhence\b|\bthereof\b|\bwherein\b|\btherein\b|\bforgo(?:es)?\b/i,
    "use a shorter sentence",
  ],
  [/\bis (?:this|that|it) meant\b|\bis \S+ meant\?/i, "use “Did you mean …?”"],
  [/\bwhat (?:it|they) (?:says?|gives?|takes?|told)\b/i, "name the thing: “output”, “input”, “answer”"],
  [/\banew\b|\bhitherto\b|\blest\b|\bthrice\b|\bmay be had\b/i, "use current English: “again”, “so far”"],
];

/** `[file, text]`: lines of that file which contain the text are left alone. */
const exceptions = [
  ["scripts/check-language.mjs", ""],
  // Databases store the hash of an applied migration.
  ["apps/server/migrations/0001-baseline.sql", ""],
  // The Unix user.
  ["apps/server/src/engines/database/account.ts", "nobody"],
  ["apps/server/src/engines/database/cluster.ts", "nobody"],
  ["apps/server/src/engines/database/pooler.test.ts", "nobody"],
  ["apps/server/test/process/embedded-database.test.ts", "nobody"],
  ["apps/server/test/process/home-owner.test.ts", "nobody"],
  // A dump of an old database.
  ["apps/server/test/support/database-of-0050.sql", ""],
];

const searched = /\.(?:ts|tsx|mjs|sql|md|yaml|yml|service)$/;
const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", ...process.argv.slice(2)], {
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => searched.test(file));

let found = 0;
for (const file of files) {
  const allowed = exceptions.filter(([path]) => path === file).map(([, text]) => text);
  for (const [index, line] of readFileSync(file, "utf8").split("\n").entries()) {
    if (allowed.some((text) => line.includes(text))) continue;
    for (const [pattern, advice] of rules) {
      const hit = pattern.exec(line);
      if (!hit) continue;
      found++;
      console.error(`${file}:${index + 1}: “${hit[0]}”: ${advice}`);
    }
  }
}
if (files.length === 0) {
  console.error("The language check found no files to read.");
  process.exit(1);
}
if (found > 0) {
  console.error(`${found} phrases to rewrite.`);
  process.exit(1);
}
console.error(`Language rules hold over ${files.length} files.`);
