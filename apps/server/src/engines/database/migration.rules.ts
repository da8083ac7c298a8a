export interface Migration {
  name: string;
  sql: string;
  hash: string;
}

/** As the database remembers it. */
export interface AppliedMigration {
  name: string;
  hash: string;
  /** A program that does not know this one must not work on the database. */
  must_know: boolean;
}

/** Those that the database does not have yet. One that was changed since it was applied is an error. */
export function pendingOf(applied: readonly AppliedMigration[], migrations: readonly Migration[]): Migration[] {
  const hashes = new Map(applied.map(({ name, hash }) => [name, hash]));
  for (const { name, hash } of migrations) {
    if (hashes.has(name) && hashes.get(name) !== hash)
      throw new Error(
        `The migration ${name} was changed after it had been applied to this database. ` +
          "Restore the file and put the change into a new migration.",
      );
  }
  return migrations.filter(({ name }) => !hashes.has(name));
}

/** Of a newer program, which this one can work beside. Where it cannot, that is an error. */
export function newerOf(applied: readonly AppliedMigration[], known: readonly Migration[]): string[] {
  const names = new Set(known.map(({ name }) => name));
  const newer = applied.filter(({ name }) => !names.has(name));
  const needed = newer.find(({ must_know }) => must_know);
  if (needed)
    throw new Error(
      "This database was upgraded by a newer Gantry, and this one is too old to work on it: it does not know the " +
        `migration ${needed.name}. Start the newer program, or restore a backup of before into a new database.`,
    );
  return newer.map(({ name }) => name);
}

/** One statement of a migration outside a transaction, and the index that it is about. */
export interface IndexStatement {
  text: string;
  index: string;
  builds: boolean;
}

const outsideMark = "-- no transaction";
const builds = /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+([a-z0-9_]+)\s+on\s/;
const drops = /^drop\s+index\s+concurrently\s+if\s+exists\s+([a-z0-9_]+)$/;

/**
 * The statements of a migration whose first line is `-- no transaction`; undefined for every other one. Such a one may be
 * cut off between any two statements, or within one, and is then run again from its start: so it may hold only what can
 * be, and that is the building and dropping of indexes without stopping the traffic on their table.
 */
export function statementsOutside({ name, sql }: Migration): IndexStatement[] | undefined {
  const [first, ...rest] = sql.split("\n");
  if (first?.trim() !== outsideMark) return undefined;
  const texts = rest
    .filter((line) => !line.trimStart().startsWith("--"))
    .join("\n")
    .split(/;\s*(?:\n|$)/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
  return texts.map((text) => {
    const built = builds.exec(text)?.[1];
    const index = built ?? drops.exec(text)?.[1];
    if (index === undefined)
      throw new Error(
        `The migration ${name} is marked "${outsideMark}" and may hold only "create index concurrently if not exists" ` +
          `and "drop index concurrently if exists", not: ${text}`,
      );
    return { text, index, builds: built !== undefined };
  });
}
