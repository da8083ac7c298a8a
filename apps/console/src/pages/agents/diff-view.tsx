import type { RevisionDiff } from "@gantry/sdk";
import { asText, diffLines, isListChange } from "./diff.rules.ts";

export function DiffView({ changes }: Pick<RevisionDiff, "changes">) {
  const fields = Object.entries(changes);
  if (fields.length === 0) return <p className="text-muted">No changes.</p>;
  return (
    <dl className="flex flex-col gap-3">
      {fields.map(([field, change]) => (
        <div key={field}>
          <dt className="mb-1 font-medium">
            <code>{field}</code>
          </dt>
          <dd>
            <Lines
              lines={
                isListChange(change)
                  ? [
                      ...change.removed.map((text) => ({ sign: "-", text }) as const),
                      ...change.added.map((text) => ({ sign: "+", text }) as const),
                      ...(change.changed ?? []).map((text) => ({ sign: "~", text }) as const),
                    ]
                  : diffLines(asText(change.old), asText(change.new))
              }
            />
          </dd>
        </div>
      ))}
    </dl>
  );
}

type Sign = "+" | "-" | "~" | " ";

const looks: Record<Sign, [className: string, label: string]> = {
  "+": ["bg-good-soft text-good", "added: "],
  "-": ["bg-bad-soft text-bad", "removed: "],
  "~": ["bg-warn-soft text-warn", "changed: "],
  " ": ["", ""],
};

function Lines({ lines }: { lines: readonly { sign: Sign; text: string }[] }) {
  return (
    <pre className="max-h-96 overflow-auto rounded-md border border-line bg-sunken py-1 font-mono text-xs leading-relaxed">
      {lines.map(({ sign, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines may be equal and never move.
        <div key={at} className={`whitespace-pre-wrap break-words px-2 ${looks[sign][0]}`}>
          <span className="sr-only">{looks[sign][1]}</span>
          <span aria-hidden className="mr-2 select-none">
            {sign}
          </span>
          {text}
        </div>
      ))}
    </pre>
  );
}
