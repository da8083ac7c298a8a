export interface Migration {
  name: string;
  sql: string;
  hash: string;
}

/** As stored in the database. */
export interface AppliedMigration {
  name: string;
  hash: string;
  /** Programs without this migration must not use the database. */
  must_know: boolean;
}

/** Throws if an applied migration was changed. */
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

/** Migrations of a newer program. Throws if this program must know one of them. */
export function newerOf(applied: readonly AppliedMigration[], known: readonly Migration[]): string[] {
  const names = new Set(known.map(({ name }) => name));
  const newer = applied.filter(({ name }) => !names.has(name));
  const needed = newer.find(({ must_know }) => must_know);
  if (needed)
    throw new Error(
      "A newer Gantry has upgraded this database, and this version is too old for it: it does not know the migration " +
        `${needed.name}. Start the newer version, or restore an older backup into a new database.`,
    );
  return newer.map(({ name }) => name);
}

/** A statement of a migration without a transaction, and the index that it creates or drops. */
export interface IndexStatement {
  text: string;
  index: string;
  /** Undefined if it drops the index. */
  build: IndexBuild | undefined;
}

export interface IndexBuild {
  kind: "index" | "unique index";
  table: string;
  /** From the columns on. */
  definition: string;
}

const outsideMark = "-- no transaction";
const builds =
  /^create\s+(unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+([a-z0-9_]+)\s+on\s+([a-z0-9_]+)\s+(.+)$/s;
const drops = /^drop\s+index\s+concurrently\s+if\s+exists\s+([a-z0-9_]+)$/;

/**
 * The statements of a migration whose first line is `-- no transaction`; undefined for others. Such a migration can be
 * interrupted anywhere and then runs again from its start, so it may only create and drop indexes concurrently.
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
    const [, unique, built, table = "", definition = ""] = builds.exec(text) ?? [];
    const index = built ?? drops.exec(text)?.[1];
    if (index === undefined)
      throw new Error(
        `The migration ${name} is marked "${outsideMark}" and may contain only "create index concurrently if not exists" ` +
          `and "drop index concurrently if exists", not: ${text}`,
      );
    const kind = unique === undefined ? "index" : "unique index";
    return { text, index, build: built === undefined ? undefined : { kind, table, definition } };
  });
}
