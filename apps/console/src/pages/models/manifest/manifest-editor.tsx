import { type UIEvent, useId, useRef } from "react";
import { CodeText } from "../../../ui/code-text.tsx";
import type { Fault } from "./manifest.rules.ts";

interface ManifestEditorProps {
  text: string;
  onText(text: string): void;
  faults: readonly Fault[];
}

/** Each error below the editor selects its line. */
export function ManifestEditor({ text, onText, faults }: ManifestEditorProps) {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const colours = useRef<HTMLPreElement>(null);
  const lines = text.split("\n");
  const faultyLines = new Set(faults.map(({ line }) => line));
  const scroll = ({ currentTarget }: UIEvent<HTMLTextAreaElement>) => {
    if (gutter.current) gutter.current.scrollTop = currentTarget.scrollTop;
    colours.current?.scrollTo({ top: currentTarget.scrollTop, left: currentTarget.scrollLeft });
  };
  const show = (line: number) => {
    const begin = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    const shown = area.current;
    if (!shown) return;
    shown.focus();
    shown.setSelectionRange(begin, begin + (lines[line - 1]?.length ?? 0));
    shown.scrollTop = Math.max(0, (line - 5) * (shown.scrollHeight / lines.length));
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex h-112 overflow-hidden rounded-md border border-strong-line bg-panel font-mono text-xs leading-5">
        <div ref={gutter} aria-hidden className="overflow-hidden bg-sunken py-2 text-right text-muted select-none">
          {lines.map((_, n) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified by their number.
              key={n}
              className={`px-2 ${faultyLines.has(n + 1) ? "bg-bad-soft font-semibold text-bad" : ""}`}
            >
              {n + 1}
            </div>
          ))}
        </div>
        <div className="relative min-w-0 flex-1">
          {/* The coloured text lies under the transparent text of the editor. */}
          <pre
            ref={colours}
            aria-hidden
            className="pointer-events-none absolute inset-0 overflow-hidden p-2 whitespace-pre"
          >
            {/* A line of its own makes room for the horizontal scrollbar. */}
            <CodeText text={text} language="json" />
            {"\n\n"}
          </pre>
          <textarea
            ref={area}
            aria-label="Manifest (JSON)"
            aria-invalid={faults.length > 0 || undefined}
            aria-describedby={faults.length > 0 ? id : undefined}
            className="absolute inset-0 size-full resize-none bg-transparent p-2 whitespace-pre text-transparent caret-ink -outline-offset-2"
            wrap="off"
            spellCheck={false}
            value={text}
            onChange={(event) => onText(event.target.value)}
            onScroll={scroll}
          />
        </div>
      </div>
      {faults.length > 0 && (
        <ul id={id} role="alert" className="rounded-md border border-bad/40 bg-bad-soft p-2">
          {faults.map(({ line, path, message }) => (
            <li key={`${line} ${path} ${message}`}>
              <button
                type="button"
                className="w-full rounded px-1 py-0.5 text-left break-words hover:underline"
                onClick={() => show(line)}
              >
                Line {line}
                {path && <code>, {path}</code>}: {message}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
