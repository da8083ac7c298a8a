import { createHash } from "node:crypto";
import type { AuditReport } from "@gantry/wire";
import type { Sql, Transaction } from "../../engines/database/database.ts";

interface Row {
  seq: number;
  micros: string;
  hash: string;
  /** As it was written. */
  entry: string;
}

interface Chain {
  seq: number;
  hash: string;
  deletedSeq: number;
  deletedHash: string;
}

const portion = 1000;

/**
 * Computes the hash of every record again, in portions. With a hash that was noted earlier it also finds whether records
 * were cut off at the end, or all hashes were computed again after a change. Needs a transaction with one snapshot.
 */
export async function verifyChain(
  tx: Transaction,
  notedHash?: string,
  portionSize: number = portion,
): Promise<AuditReport> {
  const chain = await readChain(tx);
  let previous = { seq: chain.deletedSeq, hash: chain.deletedHash };
  let isNoted = notedHash === undefined || notedHash === chain.deletedHash;
  const report = { records: 0, first: null as number | null, last: chain.seq, head: chain.hash };
  const broken = (seq: number, reason: string): AuditReport => ({ ...report, intact: false, broken: { seq, reason } });
  for (;;) {
    const rows = await selectRows(tx, previous.seq, portionSize);
    for (const row of rows) {
      report.first ??= row.seq;
      report.records += 1;
      const expected = previous.seq + 1;
      if (row.seq !== expected) return broken(expected, "The record is missing.");
      if (hashOf(previous.hash, row) !== row.hash)
        return broken(row.seq, "The record was changed after it was written.");
      previous = row;
      if (row.hash === notedHash) isNoted = true;
    }
    if (rows.length < portionSize) break;
  }
  if (previous.seq !== chain.seq) return broken(previous.seq + 1, "Records are missing at the end.");
  if (previous.hash !== chain.hash) return broken(chain.seq, "The end of the chain was changed.");
  if (!isNoted)
    return broken(chain.seq, "The given hash is not in the chain: records were replaced, cut off or expired.");
  const early = await selectEarly(tx, chain.deletedSeq);
  if (early !== undefined) return broken(early, "The record is before the beginning of the chain.");
  return { ...report, intact: true, broken: null };
}

/** The same as `append_audit`. */
function hashOf(previous: string, { seq, micros, entry }: Row): string {
  return createHash("sha256").update(["gantry audit 1", seq, previous, micros, entry].join("\n")).digest("hex");
}

async function readChain(sql: Sql): Promise<Chain> {
  const [chain] = await sql<Chain[]>`
    select seq, encode(hash, 'hex') as hash, deleted_seq as "deletedSeq", encode(deleted_hash, 'hex') as "deletedHash"
    from audit_chain`;
  if (!chain) throw new Error("The end of the audit chain is missing: the row of audit_chain was deleted.");
  return chain;
}

function selectRows(sql: Sql, after: number, limit: number): Promise<Row[]> {
  return sql<Row[]>`
    select seq, audit_micros(at)::text as micros, encode(hash, 'hex') as hash, entry::text as entry
    from audit_records where seq > ${after} order by seq limit ${limit}`;
}

async function selectEarly(sql: Sql, upTo: number): Promise<number | undefined> {
  const [row] = await sql<{ seq: number }[]>`
    select seq from audit_records where seq <= ${upTo} order by seq limit 1`;
  return row?.seq;
}
