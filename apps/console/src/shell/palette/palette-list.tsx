import type { PaletteEntry, PaletteGroup } from "./palette.rules.ts";

interface PaletteListProps {
  id: string;
  groups: readonly PaletteGroup[];
  current: PaletteEntry | undefined;
  optionId(entry: PaletteEntry): string;
  onPoint(entry: PaletteEntry): void;
  onChoose(entry: PaletteEntry): void;
}

/** Focus stays in the input, which names the current option. */
export function PaletteList({ id, groups, current, optionId, onPoint, onChoose }: PaletteListProps) {
  return (
    <div id={id} role="listbox" aria-label="Results">
      {groups.map(({ name, entries }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot hold options of a listbox.
        <div key={name} role="group" aria-label={name} className="pb-1">
          <p aria-hidden className="px-3 pt-2 pb-1 font-medium text-muted text-xs">
            {name}
          </p>
          {entries.map((entry) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the input.
            <div
              key={entry.key}
              id={optionId(entry)}
              role="option"
              aria-selected={entry === current}
              className="flex cursor-pointer items-baseline gap-3 rounded-md px-3 py-2 aria-selected:bg-accent-soft"
              onMouseMove={() => onPoint(entry)}
              onClick={() => onChoose(entry)}
            >
              <span className="min-w-0 flex-1 truncate">{entry.label}</span>
              {entry.note && <code className="max-w-[60%] truncate text-muted text-xs">{entry.note}</code>}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
