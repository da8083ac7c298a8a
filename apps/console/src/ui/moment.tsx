import { ago, time } from "./format.ts";

/** A moment as people say it; the exact one is told to whoever points at it. */
export function Moment({ at }: { at: string | null | undefined }) {
  if (!at) return <span className="text-muted">never</span>;
  return (
    <time dateTime={at} title={time(at)} className="whitespace-nowrap">
      {ago(at)}
    </time>
  );
}
