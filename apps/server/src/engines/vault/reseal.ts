import type { Sql, Transaction } from "../database/database.ts";
import { type SealedColumn, sealedColumns } from "./sealed-columns.ts";
import type { Vault } from "./vault.ts";

interface SealedRow {
  /** The row's ctid: valid while the transaction has the table locked. */
  place: string;
  sealed: Uint8Array;
  context: string;
}

export interface Resealed {
  changed: number;
  /** Already encrypted with the new key. */
  already: number;
  /** Per table, texts that neither key decrypts. They are left alone. */
  unreadable: Map<string, number>;
}

const rowsAtOnce = 500;

export async function resealAll(tx: Transaction, from: Vault, to: Vault): Promise<Resealed> {
  const result: Resealed = { changed: 0, already: 0, unreadable: new Map() };
  for (const column of await existing(tx)) {
    for await (const rows of sealedRows(tx, column)) {
      const places: string[] = [];
      const texts: Uint8Array[] = [];
      for (const { place, sealed, context } of rows) {
        const text = opened(from, sealed, context);
        if (text !== undefined) {
          places.push(place);
          texts.push(to.seal(text, context));
        } else if (opened(to, sealed, context) !== undefined) result.already++;
        else result.unreadable.set(column.table, (result.unreadable.get(column.table) ?? 0) + 1);
      }
      await replaceSealed(tx, column, places, texts);
      result.changed += places.length;
    }
  }
  return result;
}

/** The first vault that decrypts anything. One is enough: all texts change their key together. */
export async function whichOpens(tx: Transaction, vaults: readonly Vault[]): Promise<Vault | undefined> {
  for (const column of await existing(tx)) {
    for await (const rows of sealedRows(tx, column)) {
      for (const { sealed, context } of rows) {
        const right = vaults.find((vault) => opened(vault, sealed, context) !== undefined);
        if (right) return right;
      }
    }
  }
  return undefined;
}

/** Sealed texts exist, and the vault decrypts none of them. */
export async function opensNothing(tx: Transaction, vault: Vault): Promise<boolean> {
  if (await whichOpens(tx, [vault])) return false;
  for (const { table, column } of await existing(tx)) {
    const rows = await tx`select 1 from ${tx(table)} where ${tx(column)} is not null limit 1`;
    if (rows.length > 0) return true;
  }
  return false;
}

function opened(vault: Vault, sealed: Uint8Array, context: string): string | undefined {
  try {
    return vault.open(sealed, context);
  } catch {
    return undefined;
  }
}

/** Columns that exist: the database may belong to an older version. */
async function existing(sql: Sql): Promise<SealedColumn[]> {
  const tables = sealedColumns.map(({ table }) => table);
  const rows = await sql<{ name: string }[]>`
    select name from unnest(${tables}::text[]) name where to_regclass(name) is not null`;
  const there = new Set(rows.map(({ name }) => name));
  return sealedColumns.filter(({ table }) => there.has(table));
}

/** Until the transaction ends, no sealed text is written and no server joins. */
export async function lockSealed(tx: Transaction): Promise<void> {
  const tables = ["nodes", ...new Set((await existing(tx)).map(({ table }) => table))];
  await tx.unsafe(`lock table ${tables.map((table) => `"${table}"`).join(", ")} in exclusive mode`);
}

async function* sealedRows(tx: Transaction, { table, column, of, context }: SealedColumn): AsyncGenerator<SealedRow[]> {
  const values = of.map((name) => `"${name}"::text`).join(", ");
  await tx.unsafe(
    `declare sealed_rows no scroll cursor for
       select ctid::text as place, "${column}" as sealed, array[${values}] as values
       from "${table}" where "${column}" is not null`,
  );
  try {
    for (;;) {
      const rows = await tx.unsafe<{ place: string; sealed: Uint8Array; values: string[] }[]>(
        `fetch forward ${rowsAtOnce} from sealed_rows`,
      );
      if (rows.length === 0) break;
      yield rows.map((row) => ({ place: row.place, sealed: row.sealed, context: context(row.values) }));
    }
  } finally {
    // Fails in a failed transaction; the first error is the useful one.
    await tx`close sealed_rows`.catch(() => undefined);
  }
}

async function replaceSealed(
  tx: Transaction,
  { table, column }: SealedColumn,
  places: string[],
  texts: Uint8Array[],
): Promise<void> {
  if (places.length === 0) return;
  await tx`
    update ${tx(table)} t set ${tx(column)} = resealed.sealed
    from unnest(${places}::text[]::tid[], ${texts as Buffer[]}::bytea[]) as resealed (place, sealed)
    where t.ctid = resealed.place`;
}
