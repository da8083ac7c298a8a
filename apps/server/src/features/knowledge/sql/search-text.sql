-- A lexeme as a query.
create or replace function lexeme_query(lexeme text)
returns tsquery language sql immutable strict parallel safe as $$
  select ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery
$$;

-- The terms of a question in its order: each word as it is written, or its stem. Stop words count only if there is no
-- other word.
create or replace function search_terms(question text)
returns setof tsquery language sql stable as $$
  with words as (
    select w.lexeme, w.positions[1] as place, ts_lexize('english_stem', w.lexeme) as stems
    from unnest(to_tsvector('simple', question)) w
  ), kept as (
    select * from words w where cardinality(w.stems) > 0 or not exists (select from words o where cardinality(o.stems) > 0)
  )
  select case when k.stems[1] is null or k.stems[1] = k.lexeme then lexeme_query(k.lexeme)
    else lexeme_query(k.lexeme) || lexeme_query(k.stems[1]) end
  from kept k order by k.place limit 12
$$;

-- Chunks of a drive that match a question, best first. All words, phrases in quotes and words after a minus are matched
-- as in a web search. If the question has neither phrases nor exclusions, chunks with some of its words follow, ranked by
-- how rare the words are in the drive (as BM25 does).
--
-- The work is bounded: at most 1,000 chunks are read for each word, and the best 200 of them are ranked. The drive is a
-- lexeme of each chunk, so the index narrows by drive and word together. Each statement is planned for its word: frequent
-- words are found faster without the index.
create or replace function search_drive_text(of_drive text, question text, wanted integer)
returns table (id bigint, score double precision) language plpgsql stable
set plan_cache_mode to 'force_custom_plan' as $$
declare
  scope constant tsquery := lexeme_query(of_drive);
  -- What is in quotes is matched as it is written.
  quoted constant text := array_to_string(array(
    select m[1] from regexp_matches(question, '-?"[^"]*"', 'g') m where m[1] not like '-%'), ' ');
  whole constant tsquery := (websearch_to_tsquery('english', question) || websearch_to_tsquery('simple', question))
    && websearch_to_tsquery('simple', quoted);
  is_exact constant boolean := quoted <> '' or whole::text like '%!%';
  importance constant real[] := '{0.1, 0.3, 0.6, 1}';
  total constant integer := (select i.chunks from drive_indexes i where i.drive_id = of_drive);
  matches bigint[];
  term tsquery;
  ids bigint[];
  weight double precision;
  terms tsquery[] := '{}';
  weights double precision[] := '{}';
  hits bigint[] := '{}';
  hit_weights double precision[] := '{}';
begin
  -- Nothing but exclusions.
  if querytree(whole) in ('', 'T') then return; end if;
  matches := array(
    select c.id from drive_chunks c where c.search @@ (scope && whole) and c.drive_id = of_drive limit 200);
  for term in select search_terms(question) loop
    ids := array(
      select c.id from drive_chunks c where c.search @@ (scope && term) and c.drive_id = of_drive limit 1000);
    continue when cardinality(ids) = 0;
    weight := ln(1 + (greatest(total - cardinality(ids), 0) + 0.5) / (cardinality(ids) + 0.5));
    terms := terms || term;
    weights := weights || weight;
    hits := hits || ids;
    hit_weights := hit_weights || array_fill(weight, array[cardinality(ids)]);
  end loop;
  if not is_exact then
    matches := matches || array(
      select h.id from unnest(hits, hit_weights) as h (id, weight) group by h.id order by sum(h.weight) desc, h.id limit 200);
  end if;
  return query
  select c.id, ts_rank_cd(importance, c.search, whole)::double precision
    + (select coalesce(sum(t.weight * ts_rank(importance, c.search, t.query, 1)), 0) from unnest(terms, weights) as t (query, weight))
  from drive_chunks c where c.id = any (matches) and c.drive_id = of_drive
  order by 2 desc, 1 limit wanted;
end $$;
