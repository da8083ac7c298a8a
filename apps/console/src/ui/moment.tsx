import { ago, time } from "./format.ts";

/** Relative time; the tooltip shows the exact time. */
export function Moment({ at }: { at: string | null | undefined }) {
  if (!at) return <span className="text-muted">Never</span>;
  return (
    <time dateTime={at} title={time(at)} className="whitespace-nowrap">
      {ago(at)}
    </time>
  );
}
