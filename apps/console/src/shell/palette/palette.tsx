import { useRouter } from "@tanstack/react-router";
import { LoaderCircle, Search } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { movedTo, type PaletteEntry } from "./palette.rules.ts";
import { PaletteList } from "./palette-list.tsx";
import { usePaletteGroups } from "./use-palette-groups.ts";

/** Search over pages, actions, models, agents and pasted ids, for the keyboard and for screen readers. */
export function Palette({ onClose }: { onClose(): void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { groups, isSearching } = usePaletteGroups(text);
  const entries = groups.flatMap((group) => group.entries);
  const current = Math.min(at, Math.max(0, entries.length - 1));
  const listId = useId();
  const optionId = (index: number) => `${listId}-${index}`;
  const list = useRef<HTMLDivElement>(null);
  const router = useRouter();
  useEffect(() => {
    list.current?.querySelector(`[id="${listId}-${current}"]`)?.scrollIntoView({ block: "nearest" });
  }, [current, listId]);
  const go = ({ path }: PaletteEntry) => {
    onClose();
    router.history.push(router.basepath + path);
  };
  const press = (event: KeyboardEvent) => {
    // Enter that confirms a word of an input method is not for the list.
    if (event.nativeEvent.isComposing) return;
    const next = movedTo(current, event.key, entries.length);
    const chosen = event.key === "Enter" && entries[current];
    if (next === undefined && !chosen) return;
    event.preventDefault();
    if (chosen) go(chosen);
    else setAt(next ?? 0);
  };
  return (
    <Radix.Root open onOpenChange={onClose}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed top-3 left-1/2 z-40 flex max-h-[calc(100dvh-1.5rem)] w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-lg border border-line bg-panel shadow-xl md:top-[12vh] md:max-h-[70vh]"
        >
          <Radix.Title className="sr-only">Search</Radix.Title>
          <div className="flex items-center gap-2.5 border-line border-b px-4">
            {isSearching ? (
              <LoaderCircle size={16} className="shrink-0 animate-spin text-muted" />
            ) : (
              <Search size={16} className="shrink-0 text-muted" />
            )}
            <input
              type="text"
              role="combobox"
              aria-label="Search pages, models, agents or an id"
              aria-expanded
              aria-controls={listId}
              aria-autocomplete="list"
              aria-activedescendant={entries.length > 0 ? optionId(current) : undefined}
              autoComplete="off"
              spellCheck={false}
              placeholder="Search pages, models, agents, or paste an id"
              className="h-12 min-w-0 flex-1 bg-transparent text-base outline-none placeholder:text-muted"
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setAt(0);
              }}
              onKeyDown={press}
            />
            <kbd className="hidden rounded border border-line px-1.5 text-muted text-xs sm:block">Esc</kbd>
          </div>
          <div ref={list} className="min-h-0 overflow-y-auto p-2">
            <PaletteList
              id={listId}
              groups={groups}
              current={entries[current]}
              optionId={(entry) => optionId(entries.indexOf(entry))}
              onPoint={(entry) => setAt(entries.indexOf(entry))}
              onChoose={go}
            />
            {entries.length === 0 && !isSearching && (
              <p className="px-3 py-6 text-center text-muted">Nothing found. Try a name, or paste a whole id.</p>
            )}
          </div>
          <p role="status" className="sr-only">
            {entries.length === 1 ? "1 result" : `${entries.length} results`}
          </p>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
