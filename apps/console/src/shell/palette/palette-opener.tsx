import { Search } from "lucide-react";
import { type ComponentType, useEffect, useState } from "react";
import { errorText } from "../../ui/error-text.rules.ts";
import { createStore, useStore } from "../../ui/store.ts";
import { toast } from "../../ui/toast.ts";
import { MissingChunk } from "../lazy-page.ts";

const isOpen = createStore(false);

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens the palette; has the shortcut on it where there is a keyboard. */
export function PaletteButton({ compact = false }: { compact?: boolean }) {
  const open = () => isOpen.set(true);
  if (compact) {
    return (
      <button type="button" aria-label="Search" className="rounded p-1.5 hover:bg-sunken" onClick={open}>
        <Search size={18} />
      </button>
    );
  }
  return (
    <button
      type="button"
      aria-keyshortcuts={isMac ? "Meta+K" : "Control+K"}
      className="mx-3 mb-2 flex h-8 items-center gap-2 rounded-md border border-field-line bg-panel px-2 text-muted hover:bg-sunken hover:text-ink"
      onClick={open}
    >
      <Search size={14} /> Search
      <kbd className="ml-auto font-sans text-xs">{isMac ? "⌘K" : "Ctrl K"}</kbd>
    </button>
  );
}

type PaletteType = ComponentType<{ onClose(): void }>;

/** Loads the palette when it is opened for the first time. */
export function PaletteHost() {
  const open = useStore(isOpen);
  const [Palette, setPalette] = useState<PaletteType>();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      isOpen.set(!isOpen.get());
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  useEffect(() => {
    if (!open || Palette) return;
    import("./palette.tsx").then(
      (loaded) => setPalette(() => loaded.Palette),
      (cause) => {
        isOpen.set(false);
        toast(errorText(new MissingChunk(cause, () => import("./palette.tsx"))), "bad");
      },
    );
  }, [open, Palette]);
  return open && Palette ? <Palette onClose={() => isOpen.set(false)} /> : null;
}
