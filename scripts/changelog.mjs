/** Scopes of commits that change nothing for users. */
const inside = new Set(
  "bench build check checks ci compose docs engines kernel mutate proof release routes scripts soak start test tests".split(
    " ",
  ),
);
/** First words of commits that change only tests, texts in the code or the place of code. */
const isInside = (text) =>
  /^(assert|cover|expect|follow|merge|move|name|plain|prove|rename|reword|share|shorten|split|test)\b/i.test(text);
/** A first release has the whole history. The newest commits of each scope are enough. */
const mostInFirst = 8;

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Commits by the first scope in their subject, newest first. Subjects without a scope count as `other`. */
function byScope(subjects) {
  const groups = new Map();
  for (const subject of subjects) {
    const [, scopes = "other", text = subject] = /^([a-z][\w-]*(?:, [a-z][\w-]*)*): (.+)$/.exec(subject) ?? [];
    const [scope] = scopes.split(", ").filter((one) => !inside.has(one));
    if (scope !== undefined && !isInside(text)) groups.set(scope, [...(groups.get(scope) ?? []), capital(text)]);
  }
  return [...groups].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The section of one version: notes written by hand, then a list from the subjects of its commits. */
export function changelogSection({ version, date, subjects, isFirst, notes = "" }) {
  const groups = byScope(subjects).filter(([scope]) => !isFirst || scope !== "other");
  const parts = groups.map(([scope, texts]) => {
    const shown = isFirst ? texts.slice(0, mostInFirst) : texts;
    const rest = texts.length - shown.length;
    return [`### ${scope}`, "", ...shown.map((text) => `- ${text}`), ...(rest > 0 ? [`- and ${rest} earlier`] : [])];
  });
  const intro = [...(isFirst ? ["The first release.", ""] : []), ...(notes === "" ? [] : [notes, ""])];
  if (parts.length === 0 && notes === "") intro.push("No changes for users.", "");
  const body = parts.flatMap((lines) => [...lines, ""]);
  return [`## ${version} (${date})`, "", ...intro, ...body].join("\n");
}

const title = "# Changelog\n";

const unreleased = /^## Unreleased\n(.*?)(?=^## |(?![\s\S]))/ms;

/** Notes for the next version, which its section takes over. */
export const unreleasedNotes = (changelog) => unreleased.exec(changelog)?.[1]?.trim() ?? "";

/** Puts a section above the earlier ones, in place of the notes for it. */
export function addSection(changelog, section) {
  const earlier = changelog.startsWith(title) ? changelog.slice(title.length) : changelog;
  const rest = earlier.replace(unreleased, "").trimStart();
  return `${title}\n${section}${rest === "" ? "" : `\n${rest}`}`;
}

/** The next version: given as such, or as the part to raise. */
export function nextVersion(current, wanted) {
  if (/^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/.test(wanted)) return wanted;
  const [major, minor, patch] = current.replace(/-.*/, "").split(".").map(Number);
  if (wanted === "major") return `${major + 1}.0.0`;
  if (wanted === "minor") return `${major}.${minor + 1}.0`;
  if (wanted === "patch") return `${major}.${minor}.${patch + 1}`;
  throw new Error("Name a version such as 0.2.0, or patch, minor or major: npm run release -- 0.2.0");
}
