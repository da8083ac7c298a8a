import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useRef } from "react";

interface StepSheetProps {
  /** Undefined: closed. */
  title: string | undefined;
  onClose(): void;
  children: ReactNode;
}

/** Slides over the lower part of a narrow screen. */
export function StepSheet({ title, onClose, children }: StepSheetProps) {
  const opener = useRef<Element>(null);
  return (
    <Radix.Root open={title !== undefined} onOpenChange={(isOpen) => isOpen || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed inset-x-0 bottom-0 z-40 mx-auto flex max-h-[85vh] max-w-3xl flex-col rounded-t-xl border border-line bg-panel shadow-xl"
          onOpenAutoFocus={() => {
            opener.current = document.activeElement;
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (opener.current instanceof HTMLElement) opener.current.focus();
          }}
        >
          <div className="flex items-center justify-between gap-4 border-line border-b px-4 py-3">
            <Radix.Title className="min-w-0 truncate font-semibold">{title}</Radix.Title>
            <Radix.Close
              aria-label="Close step"
              className="shrink-0 rounded p-1 text-muted hover:bg-sunken hover:text-ink"
            >
              <X size={16} />
            </Radix.Close>
          </div>
          <div className="min-h-0 overflow-y-auto p-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
