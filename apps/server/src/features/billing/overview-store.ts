import type { Sql } from "../../engines/database/database.ts";
import type { Micros } from "../../kernel/money.ts";
import { selectAlive } from "../nodes/index.ts";

export interface Overview {
  users: { total: number; teams: number; disabled: number; admins: number; below_zero: number };
  models: { total: number; public: number; private: number; inactive: number };
  predictions: { running: number; waiting: number };
  nodes: number;
  today: Turnover;
  /** Today and the six UTC days before. */
  lastSevenDays: Turnover;
  topModels: { modelName: string; requests: number; spent: Micros }[];
  /** The accounts of the ledger, which add up to zero. `sum` is computed before rounding. */
  books: { balances: Micros; reserved: Micros; platform: Micros; outside: Micros; sum: Micros };
}

interface Turnover {
  requests: number;
  paid: number;
  spent: Micros;
}

/**
 * The operator's overview, in one statement and so from one snapshot. Adds up the sums and the usage rows that are not folded
 * yet, at most a thousand per user. Folding first would lock every wallet. The platform's account is computed from usage,
 * so that the books check wallets against usage.
 */
export async function selectOverview(sql: Sql): Promise<Overview> {
  const [row] = await sql<[{ overview: Overview }]>`
    with mark as materialized (
      select coalesce(days_before, '-infinity') as days_before, charged_micros from usage_marks
    ), unfolded as materialized (
      select u.model_name, u.created_at >= date_trunc('day', now(), 'UTC') as today,
        u.created_at >= date_trunc('day', now(), 'UTC') - interval '6 days' as recent, count(*) as requests,
        count(*) filter (where u.price_micros > 0) as paid_requests, sum(u.price_micros) as spent_micros
      from wallets w cross join lateral (
        -- Offset 0 makes the planner use the index for each user.
        select * from usage where user_id = w.user_id and created_at > w.folded_until offset 0
      ) u where w.unfolded > 0 group by 1, 2, 3
    ), recent as materialized (
      select model_name, requests, paid_requests, spent_micros, day >= date_trunc('day', now(), 'UTC') as today
      from usage_days
      where day >= date_trunc('day', now(), 'UTC') - interval '6 days' and day < (select days_before from mark)
      union all
      select model_name, requests, paid_requests, spent_micros, hour >= date_trunc('day', now(), 'UTC')
      from usage_hours
      where hour >= greatest(date_trunc('day', now(), 'UTC') - interval '6 days', (select days_before from mark))
      union all
      select model_name, requests, paid_requests, spent_micros, today from unfolded where recent
    ), since_closing as (
      select coalesce(sum(spent_micros), 0) as charged from (
        select spent_micros, model_name from usage_hours where hour >= (select days_before from mark)
        union all select spent_micros, model_name from unfolded
      ) piece where not is_sale(model_name)
    )
    select json_build_object(
      'users', (
        select json_build_object('total', count(*) filter (where kind = 'person'),
          'teams', count(*) filter (where kind = 'team'),
          'disabled', count(*) filter (where kind = 'person' and disabled_at is not null),
          'admins', count(*) filter (where role = 'admin' and disabled_at is null),
          'below_zero', count(*) filter (where w.balance_micros < 0))
        from users u left join wallets w on w.user_id = u.id where role <> 'system'),
      'models', (
        select json_build_object('total', count(*), 'public', count(*) filter (where visibility = 'public'),
          'private', count(*) filter (where visibility = 'private'), 'inactive', count(*) filter (where capacity = 0))
        from models where retired_at is null),
      'predictions', (
        select json_build_object('running', coalesce(sum(running), 0), 'waiting', coalesce(sum(waiting), 0))
        from model_slots),
      'nodes', ${selectAlive(sql)},
      'today', (
        select json_build_object('requests', coalesce(sum(requests), 0), 'paid', coalesce(sum(paid_requests), 0),
          'spent', coalesce(sum(spent_micros), 0))
        from recent where today),
      'lastSevenDays', (
        select json_build_object('requests', coalesce(sum(requests), 0), 'paid', coalesce(sum(paid_requests), 0),
          'spent', coalesce(sum(spent_micros), 0))
        from recent),
      'topModels', (
        select coalesce(json_agg(json_build_object('modelName', model_name, 'requests', n, 'spent', spent)
          order by spent desc, n desc, model_name collate "C"), '[]')
        from (
          select model_name, sum(requests) as n, sum(spent_micros) as spent from recent
          group by 1 order by spent desc, n desc, model_name collate "C" limit 5
        ) top),
      'books', (
        select json_build_object('balances', balances, 'reserved', reserved, 'platform', platform, 'outside', outside,
          'sum', balances + platform + outside)
        from (
          select coalesce(sum(balance_micros), 0) as balances, coalesce(sum(reserved_micros), 0) as reserved,
            (select charged_micros from mark) + (select charged from since_closing) as platform,
            coalesce((select sum(amount_micros) from ledger where to_account = 'outside'), 0)
              - coalesce((select sum(amount_micros) from ledger where from_account = 'outside'), 0) as outside
          from wallets
        ) side)
    ) as overview`;
  return row.overview;
}
