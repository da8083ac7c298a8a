import { Readable } from "node:stream";
import { type AuditRecord, auditQuery, ownAuditQuery } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import type { Audit, AuditFilter, StoredRecord } from "../../features/audit/index.ts";
import { throwIfAny } from "../../kernel/errors.ts";
import { listEnvelope, type PageQuery, queryIssues, rangeOf } from "../foundation/page-query.ts";
import { prefersOverJson } from "../foundation/preferred-type.rules.ts";
import { route } from "../foundation/route.ts";
import { timeRangeIn } from "../foundation/time-range.ts";
import { auditCsvHeader, auditCsvLines } from "./audit-csv.rules.ts";

const { listAudit, listOwnAudit } = accountOperations;

export interface AuditRouteDeps {
  audit: Pick<Audit, "list" | "export">;
}

export async function auditRoutes(app: FastifyInstance, { audit }: AuditRouteDeps): Promise<void> {
  route(app, listAudit, { unchecked: "query" }, async ({ query, request, reply }) => {
    const { page, wantsPage, filter } = readAuditQuery(auditQuery, query);
    reply.header("vary", "Accept");
    if (!prefersOverJson(request.headers.accept, "text/csv")) {
      const { entries, total } = await audit.list(filter, rangeOf(page));
      return listEnvelope(entries.map(toWire), page, total);
    }
    const portions = wantsPage ? [(await audit.list(filter, rangeOf(page))).entries] : audit.export(filter);
    return reply
      .type("text/csv; charset=utf-8; header=present")
      .header("content-disposition", 'attachment; filename="audit.csv"')
      .send(Readable.from(asCsv(portions), { highWaterMark: 1 }));
  });

  route(app, listOwnAudit, { unchecked: "query" }, async ({ caller, query }) => {
    const { page, filter } = readAuditQuery(ownAuditQuery, query);
    const { entries, total } = await audit.list({ ...filter, concerning: caller.userId }, rangeOf(page));
    return listEnvelope(
      entries.map((record) => auditToOwner(record, caller.userId)),
      page,
      total,
    );
  });
}

interface AuditQuery {
  page: PageQuery;
  /** Whether the client asked for a page rather than for the whole list. */
  wantsPage: boolean;
  filter: AuditFilter;
}

function readAuditQuery(schema: typeof auditQuery | typeof ownAuditQuery, query: unknown): AuditQuery {
  const given = Object(query) as Record<string, unknown>;
  const issues = queryIssues(schema, given);
  const range = timeRangeIn(given, issues);
  throwIfAny(issues);
  const { page, page_size, from_date: _from, to_date: _to, ...filter } = schema.parse(given);
  const wantsPage = given.page !== undefined || given.page_size !== undefined;
  return { page: { page, page_size }, wantsPage, filter: { ...filter, ...range } };
}

async function* asCsv(portions: AsyncIterable<StoredRecord[]> | Iterable<StoredRecord[]>): AsyncGenerator<string> {
  yield auditCsvHeader;
  for await (const rows of portions) if (rows.length > 0) yield auditCsvLines(rows.map(toWire));
}

function toWire({ seq, at, hash, entry }: StoredRecord): AuditRecord {
  const { action, actor, origin, object, owner, before, after } = entry;
  return { seq, created_at: at, action, actor, origin, object, owner, before, after, hash };
}

/** Address and key of another actor are not for the owner of the object. */
export function auditToOwner(stored: StoredRecord, userId: string): AuditRecord {
  const record = toWire(stored);
  if (record.actor.id === userId) return record;
  return { ...record, origin: null, actor: { ...record.actor, key_id: null, key_public: null } };
}
