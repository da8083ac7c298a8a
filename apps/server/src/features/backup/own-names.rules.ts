import type { BackupEnd, BackupHead } from "./backup.ts";

/** Tables (a partitioned one counts once), and sequences without a table. */
export interface Names {
  tables: readonly string[];
  sequences: readonly string[];
}

interface Known {
  name: string;
  sql: string;
}

/** Tables and sequences that the migrations create. All others belong to other programs. */
export function namesMadeBy(migrations: readonly Known[]): Names {
  const made = (kind: "table" | "sequence"): string[] => {
    const beginning = new RegExp(`^create ${kind} (\\w+)\\b(?! partition of)`, "gm");
    return migrations.flatMap(({ sql }) => [...sql.matchAll(beginning)].map(([, name]) => String(name)));
  };
  return { tables: made("table"), sequences: made("sequence") };
}

/** If a newer Gantry has upgraded the database, its tables cannot be distinguished from those of other programs: all are taken. */
export function namesToTake(
  all: Names,
  applied: readonly { name: string }[],
  known: readonly Known[],
): { taken: Names; leftOut: string[] } {
  const names = new Set(known.map(({ name }) => name));
  if (applied.some(({ name }) => !names.has(name))) return { taken: all, leftOut: [] };
  const taken = namesMadeBy(known);
  return { taken, leftOut: all.tables.filter((name) => !taken.tables.includes(name)) };
}

interface Contents {
  head: BackupHead;
  end: BackupEnd;
}

/** An archive may contain tables of other programs, which are left out. */
export function ownPart<C extends Contents>(contents: C, own: Names): { ours: C; leftOut: string[] } {
  const { head, end } = contents;
  const isOurs = (table: string): boolean => own.tables.includes(table);
  const ours = {
    ...contents,
    head: {
      ...head,
      tables: head.tables.filter(({ name }) => isOurs(name)),
      partitions: head.partitions.filter(({ parent }) => isOurs(parent)),
    },
    end: { ...end, rows: Object.fromEntries(Object.entries(end.rows).filter(([table]) => isOurs(table))) },
  };
  return { ours, leftOut: head.tables.map(({ name }) => name).filter((name) => !isOurs(name)) };
}
