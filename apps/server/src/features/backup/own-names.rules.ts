import type { BackupEnd, BackupHead } from "./backup.ts";

/** Of tables, partitioned ones as one, and of the sequences that belong to none. */
export interface Names {
  tables: readonly string[];
  sequences: readonly string[];
}

/** A migration, as far as it is looked at here. */
interface Known {
  name: string;
  sql: string;
}

/** What these migrations make. All else that lies beside it belongs to other programs. */
export function namesMadeBy(migrations: readonly Known[]): Names {
  const made = (kind: "table" | "sequence"): string[] => {
    const beginning = new RegExp(`^create ${kind} (\\w+)\\b(?! partition of)`, "gm");
    return migrations.flatMap(({ sql }) => [...sql.matchAll(beginning)].map(([, name]) => String(name)));
  };
  return { tables: made("table"), sequences: made("sequence") };
}

/**
 * Of what lies together, the part that a backup holds, and the tables that it leaves out. In a database that a newer
 * program has upgraded nobody here can tell its tables from those of others: then all are taken.
 */
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

/** Our part of what an archive holds: it may be one with all tables that lay together. */
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
