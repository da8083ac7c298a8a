/** A part of a whole, as a bar with its percentage. */
export function ShareBar({ percent }: { percent: number }) {
  const text = percent === 0 ? "0" : percent < 1 ? "<1" : String(Math.round(percent));
  return (
    <div className="flex items-center gap-2">
      <div className="h-2 w-24 rounded bg-sunken lg:w-48" aria-hidden>
        <div className="h-full rounded bg-accent" style={{ width: `${percent === 0 ? 0 : Math.max(2, percent)}%` }} />
      </div>
      <span className="text-muted text-xs tabular-nums">{text}%</span>
    </div>
  );
}
