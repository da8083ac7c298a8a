-- Stored types are bare media types: lower case, no parameters except `charset` of a text type. Types that were stored
-- before types were parsed are normalised once. Serving parses them again, so that an older server that still runs
-- beside this migration cannot bring a wrong type back.

create function pg_temp.bare_media_type(given text) returns text language sql immutable as $$
  select case
    when given ~ '[,"''\\]' or length(given) > 127
      or bare !~ '^[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*$' then 'application/octet-stream'
    when bare like 'text/%' and charset is not null then bare || '; charset=' || charset
    else bare
  end
  from (select
    btrim(split_part(lower(given), ';', 1)) as bare,
    substring(lower(given) from ';\s*charset=([a-z0-9][a-z0-9._:+-]*)\s*(?:;|$)') as charset) as parts
$$;

update files set content_type = pg_temp.bare_media_type(content_type)
  where content_type is distinct from pg_temp.bare_media_type(content_type);
update drive_items set content_type = pg_temp.bare_media_type(content_type)
  where content_type is distinct from pg_temp.bare_media_type(content_type);

drop function pg_temp.bare_media_type(text);
