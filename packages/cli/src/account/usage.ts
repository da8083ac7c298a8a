import type { MeRecord, SeriesMetric, SeriesRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { count, money, time } from "../frame/format.rules.ts";
import { momentOf } from "../frame/moment.rules.ts";

const metrics = ["requests", "errors", "tokens", "spend"] as const satisfies readonly SeriesMetric[];
type Figures = Record<(typeof metrics)[number], SeriesRecord>;
const usualSpan = "30d";

export async function usage({ text, flag, out, client: connect, signal }: Context): Promise<number> {
  const client = await connect();
  const by = text("by") ?? "model";
  const from = momentOf("from", text("from") ?? usualSpan, "ago");
  const to = text("to");
  const query = {
    from_date: from,
    ...(to !== undefined && { to_date: momentOf("to", to, "ago") }),
    ...(by === "day" ? { step: "day" as const } : { group_by: by as SeriesRecord["group_by"] }),
    model: text("model"),
    signal,
  };
  const [me, ...series] = await Promise.all([
    client.me({ signal }),
    ...metrics.map((metric) => client.series({ ...query, metric })),
  ]);
  const figures = Object.fromEntries(metrics.map((metric, n) => [metric, series[n]])) as Figures;
  if (flag("json")) out.json({ balance: me.balance, reserved: me.reserved, currency: me.currency, ...figures });
  else {
    const rows = by === "day" ? rowsByDay(figures) : rowsByGroup(figures);
    out.table(
      [
        { title: by, value: ({ name }: Row) => name },
        ...metrics.map((metric) => ({
          title: metric,
          align: "right" as const,
          value: ({ values }: Row) => shown(metric, values[metric]),
        })),
      ],
      rows,
      "No predictions in this time.",
    );
    printTotals(out.note, figures, me);
  }
  return 0;
}

interface Row {
  name: string;
  values: Partial<Record<SeriesMetric, number | null>>;
}

function shown(metric: SeriesMetric, value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return metric === "spend" ? money(value) : count(value);
}

/** The most expensive groups first. */
function rowsByGroup(figures: Figures): Row[] {
  const rows = new Map<string, Row>();
  for (const metric of [...metrics].reverse()) {
    for (const { id, name, total } of figures[metric].series) {
      const key = id ?? name;
      const row = rows.get(key) ?? { name: name === "" ? "unnamed" : name, values: {} };
      row.values[metric] = total;
      rows.set(key, row);
    }
  }
  return [...rows.values()];
}

function rowsByDay(figures: Figures): Row[] {
  const at = (metric: (typeof metrics)[number], n: number): number | null =>
    figures[metric].series
      .filter(({ name }) => name !== "cached")
      .reduce<number | null>((sum, { values }) => (sum === null ? null : sum + (values[n] ?? 0)), 0);
  return figures.spend.times
    .map((day, n) => ({
      name: day.slice(0, 10),
      values: Object.fromEntries(metrics.map((metric) => [metric, at(metric, n)])),
    }))
    .filter(({ values }) => Object.values(values).some((value) => value !== 0));
}

function printTotals(note: (text: string) => void, { spend, requests }: Figures, me: MeRecord): void {
  const total = spend.total === null ? "" : ` ${money(spend.total)} for ${count(requests.total ?? 0)} requests.`;
  const held = me.reserved > 0 ? ` (${money(me.reserved)} on hold)` : "";
  note(`Since ${time(spend.from_date)}:${total} Balance: ${money(me.balance)}${held}.`);
}
