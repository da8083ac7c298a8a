import { Button } from "./button.tsx";
import { time } from "./format.ts";

/** Below a list whose filter did not search everything. */
export function SearchedBack({ to, what, onOlder }: { to: string; what: string; onOlder: () => void }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-2 border-line border-t px-4 py-2 text-muted">
      <span>Searched back to {time(to)}.</span>
      <Button onClick={onOlder}>Search older {what}</Button>
    </div>
  );
}
