interface BarsProps {
  label: string;
  bars: readonly { key: string; title: string; value: number }[];
  format(value: number): string;
}

/** A bar chart, newest bar on the right. Screen readers get the same figures as a list. */
export function Bars({ label, bars, format }: BarsProps) {
  const peak = Math.max(...bars.map(({ value }) => value), 0);
  return (
    <figure aria-label={label}>
      <div className="flex h-36 items-end gap-1" aria-hidden>
        {bars.map(({ key, title, value }) => (
          <div key={key} title={`${title}: ${format(value)}`} className="group flex h-full min-w-0 flex-1 items-end">
            <div
              className="w-full rounded-t bg-accent/80 group-hover:bg-accent"
              style={{ height: peak === 0 ? "1px" : `max(1px, ${(100 * value) / peak}%)` }}
            />
          </div>
        ))}
      </div>
      <figcaption className="mt-1 flex justify-between text-muted text-xs" aria-hidden>
        <span>{bars[0]?.title}</span>
        <span>Peak {format(peak)}</span>
        <span>{bars.at(-1)?.title}</span>
      </figcaption>
      <ul className="sr-only">
        {bars.map(({ key, title, value }) => (
          <li key={key}>
            {title}: {format(value)}
          </li>
        ))}
      </ul>
    </figure>
  );
}
