import { useRouterState } from "@tanstack/react-router";
import { Menu, X } from "lucide-react";
import { Dialog } from "radix-ui";
import { type ReactNode, useEffect, useState } from "react";

/** The sidebar of narrow screens: over the page, closed by Escape, by a tap beside it and after navigation. */
export function PhoneMenu({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes after navigation.
  useEffect(() => setOpen(false), [path]);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger aria-label="Menu" className="rounded p-1.5 hover:bg-sunken">
        <Menu size={18} />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim md:hidden" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 right-0 z-40 flex w-72 max-w-[85vw] flex-col border-line border-l bg-panel shadow-xl md:hidden"
        >
          <div className="flex items-center justify-between px-4 py-3">
            <Dialog.Title className="font-semibold">Menu</Dialog.Title>
            <Dialog.Close aria-label="Close" className="rounded p-1.5 text-muted hover:bg-sunken hover:text-ink">
              <X size={16} />
            </Dialog.Close>
          </div>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
