-- Stores an event of a root run for its webhook, if it has one that wants this event. Senders are notified at commit.
create or replace function store_webhook_event(root text, event text, confirmation_ids text[])
returns void language sql as $$
  with added as (
    insert into run_webhook_events (run_id, event, confirmation_id)
    select w.run_id, store_webhook_event.event, c.id
    from run_webhooks w, unnest(confirmation_ids) as c (id)
    where w.run_id = root and store_webhook_event.event = any (w.events)
    on conflict do nothing
    returning 1
  )
  select pg_notify('gantry_webhooks', '') where exists (select from added)
$$;
