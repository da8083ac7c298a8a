import { useQuery } from "@tanstack/react-query";
import { createLink } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";
import { meQuery } from "../../api/me-query.ts";
import { seriesQuery } from "../../ui/chart/series-query.ts";
import { count, money } from "../../ui/format.ts";

const utcToday = (): string => new Date().toISOString().slice(0, 10);

/** Each figure leads to what it counts. */
export function Tiles() {
  const me = useQuery(meQuery).data;
  const day = utcToday();
  const today = { from: day, to: day };
  const spent = useQuery(seriesQuery({ metric: "spend" }, today)).data;
  const errors = useQuery(seriesQuery({ metric: "errors" }, today)).data;
  return (
    <ul className="grid grid-cols-2 gap-4 lg:grid-cols-4" aria-label="Figures">
      <Tile to="/money" name="Balance" value={me && money(me.balance)} note="Available credit and holds" />
      <Tile
        to="/predictions"
        search={{ status: "running" }}
        name="On hold"
        value={me && money(me.reserved)}
        note="For queued and running work"
      />
      <Tile
        to="/usage"
        search={today}
        name="Spent today"
        value={spent && figure(spent.total, money)}
        note="Since midnight UTC"
      />
      <Tile
        to="/predictions"
        search={{ status: "failed", ...today }}
        name="Errors today"
        value={errors && figure(errors.total, count)}
        note="Since midnight UTC"
        tone={errors?.total ? "text-bad" : ""}
      />
    </ul>
  );
}

const figure = (value: number | null, format: (value: number) => string): string =>
  value === null ? "–" : format(value);

interface TileProps extends ComponentProps<"a"> {
  name: string;
  /** Undefined while it is loaded. */
  value: string | undefined;
  note: ReactNode;
  tone?: string;
}

function TileBody({ name, value, note, tone = "", ...link }: TileProps) {
  return (
    <li className="min-w-0">
      <a
        {...link}
        className="block h-full rounded-lg border border-line bg-panel p-4 transition hover:border-strong-line hover:bg-sunken/60"
      >
        <span className="block text-muted text-xs">{name}</span>
        <span className={`mt-1 block truncate font-semibold text-xl tabular-nums ${tone}`}>{value ?? "…"}</span>
        <span className="mt-1 block text-muted text-xs">{note}</span>
      </a>
    </li>
  );
}

const Tile = createLink(TileBody);
