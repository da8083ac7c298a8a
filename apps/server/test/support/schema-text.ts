import type { Sql } from "../../src/engines/database/index.ts";

/**
 * The schema of a database as text, one line per object. Equal texts mean equal schemas, whatever the order in which
 * objects were created. Columns keep their order, because a backup stores rows by position. Monthly partitions come and
 * go, so only the default ones count.
 */
export async function schemaText(sql: Sql): Promise<string> {
  const sections = [...(await tables(sql)), ...(await types(sql)), ...(await functions(sql))];
  return `${sections.join("\n\n")}\n`;
}

const linesOf = (rows: readonly { line: string }[]): string => rows.map(({ line }) => `\n  ${line}`).join("");

async function tables(sql: Sql): Promise<string[]> {
  const found = await sql<{ oid: number; isPart: boolean; head: string }[]>`
    select c.oid::int, c.relispartition as "isPart", concat(
        case c.relkind when 'S' then 'sequence ' when 'v' then 'view ' else 'table ' end, c.relname,
        ' partition by ' || pg_get_partkeydef(c.oid),
        case when c.relispartition then ' partition of ' || (
          select inhparent::regclass from pg_inherits where inhrelid = c.oid) || ' ' || pg_get_expr(c.relpartbound, c.oid) end,
        case c.relpersistence when 'u' then ' unlogged' end,
        ' with (' || (select string_agg(option, ', ' order by option) from unnest(c.reloptions) option) || ')',
        case when c.relkind = 'S' then (
          select format(' as %s start %s increment %s min %s max %s cache %s%s', seqtypid::regtype, seqstart,
            seqincrement, seqmin, seqmax, seqcache, case when seqcycle then ' cycle' end)
          from pg_sequence where seqrelid = c.oid) end,
        case when c.relkind = 'v' then ' as ' || pg_get_viewdef(c.oid) end) as head
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'S', 'v')
      and (not c.relispartition or pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT')
    order by c.relname collate "C"`;
  return Promise.all(
    found.map(async ({ oid, isPart, head }) => (isPart ? head : head + linesOf(await partsOf(sql, oid)))),
  );
}

const partsOf = (sql: Sql, table: number) => sql<{ line: string }[]>`
  select line from (
    select 1 as kind, a.attnum as place, concat(a.attname, ' ', format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' end,
      case a.attgenerated when 's' then ' generated as ' when 'v' then ' virtual as ' else ' default ' end
        || pg_get_expr(d.adbin, d.adrelid),
      case a.attidentity when 'a' then ' identity always' when 'd' then ' identity by default' end,
      case when a.attstorage <> t.typstorage then ' storage ' || a.attstorage::text end,
      case when a.attcompression <> '' then ' compression ' || a.attcompression::text end,
      case when a.attcollation not in (0, t.typcollation) then ' collate ' || a.attcollation::regcollation end,
      case when coalesce(a.attstattarget, -1) <> -1 then ' statistics ' || a.attstattarget end,
      ' with (' || array_to_string(a.attoptions, ', ') || ')') as line
    from pg_attribute a join pg_type t on t.oid = a.atttypid
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = ${table}::int::oid and a.attnum > 0 and not a.attisdropped
      and exists (select 1 from pg_class c where c.oid = a.attrelid and c.relkind <> 'S')
    union all
    select 2, 0, format('constraint %s %s%s', conname, pg_get_constraintdef(oid, true),
      case when not convalidated then ' not validated' end)
    from pg_constraint where conrelid = ${table}::int::oid and contype <> 'n'
    union all
    select 3, 0, concat(pg_get_indexdef(indexrelid, 0, true), case when not indisvalid then ' invalid' end,
      case when indisclustered then ' clustered' end)
    from pg_index where indrelid = ${table}::int::oid
      and not exists (select 1 from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
    union all
    select 4, 0, concat(pg_get_triggerdef(oid, true), case when tgenabled <> 'O' then ' enabled ' || tgenabled::text end)
    from pg_trigger where tgrelid = ${table}::int::oid and not tgisinternal
    union all
    select 5, 0, pg_get_statisticsobjdef(oid) from pg_statistic_ext where stxrelid = ${table}::int::oid
    union all
    select 6, 0, 'comment ' || description from pg_description
    where objoid = ${table}::int::oid and classoid = 'pg_class'::regclass and objsubid = 0
  ) part order by kind, place, line collate "C"`;

async function types(sql: Sql): Promise<string[]> {
  const found = await sql<{ head: string; parts: string[] }[]>`
    select concat('type ', t.typname, case t.typtype when 'e' then ' enum' when 'd' then
        ' domain ' || format_type(t.typbasetype, t.typtypmod) end) as head,
      coalesce((select array_agg(concat(attname, ' ', format_type(atttypid, atttypmod)) order by attnum) from pg_attribute
        where attrelid = t.typrelid and attnum > 0 and not attisdropped),
        (select array_agg(enumlabel::text order by enumsortorder) from pg_enum where enumtypid = t.oid),
        (select array_agg(pg_get_constraintdef(oid) order by conname) from pg_constraint where contypid = t.oid), '{}') as parts
    from pg_type t left join pg_class c on c.oid = t.typrelid
    where t.typnamespace = current_schema()::regnamespace
      and (t.typtype in ('e', 'd') or (t.typtype = 'c' and c.relkind = 'c'))
    order by t.typname collate "C"`;
  return found.map(({ head, parts }) => [head, ...parts].join("\n  "));
}

/** A hash of the body, whose text is in the source. */
async function functions(sql: Sql): Promise<string[]> {
  const found = await sql<{ line: string }[]>`
    select concat('function ', p.proname, '(', pg_get_function_arguments(p.oid), ') returns ', pg_get_function_result(p.oid), ' ',
      l.lanname, case p.provolatile when 'i' then ' immutable' when 's' then ' stable' end,
      case when p.proisstrict then ' strict' end, case when p.prosecdef then ' security definer' end,
      ' set ' || array_to_string(p.proconfig, ', '),
      case when p.procost not in (1, 100) then ' cost ' || p.procost end,
      case when p.prorows not in (0, 1000) then ' rows ' || p.prorows end,
      ' ', left(md5(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)), 8)) as line
    from pg_proc p join pg_language l on l.oid = p.prolang
    where p.pronamespace = current_schema()::regnamespace
    order by p.proname collate "C", pg_get_function_arguments(p.oid)`;
  return found.map(({ line }) => line);
}
