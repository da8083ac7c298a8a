import { X } from "lucide-react";
import { dismiss, type Tone, useToasts } from "./toast.ts";

const edges: Record<Tone, string> = {
  plain: "border-l-strong-line",
  good: "border-l-good",
  bad: "border-l-bad",
  warn: "border-l-warn",
  info: "border-l-info",
};

export function Toasts() {
  return (
    <output className="fixed right-4 bottom-4 z-50 flex w-80 flex-col gap-2" aria-live="polite">
      {useToasts().map(({ id, text, tone }) => (
        <div
          key={id}
          className={`flex items-start gap-2 rounded-md border border-line border-l-4 bg-panel p-3 shadow-lg ${edges[tone]}`}
        >
          <p className="min-w-0 flex-1 break-words">{text}</p>
          <button type="button" aria-label="Dismiss" className="text-muted hover:text-ink" onClick={() => dismiss(id)}>
            <X size={14} />
          </button>
        </div>
      ))}
    </output>
  );
}
