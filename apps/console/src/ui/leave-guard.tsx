import { useBlocker } from "@tanstack/react-router";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface LeaveGuardProps {
  isDirty: boolean;
  /** Another tab or filter of the same page keeps the changes. */
  keepsSearch?: boolean;
}

export function LeaveGuard({ isDirty, keepsSearch = false }: LeaveGuardProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !(keepsSearch && current.pathname === next.pathname),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <Dialog
      open={status === "blocked"}
      onClose={() => reset?.()}
      title="Leave without saving?"
      description="Your changes will be lost."
    >
      <div className="flex justify-end gap-2">
        <Button onClick={() => reset?.()}>Stay</Button>
        <Button kind="danger" onClick={() => proceed?.()}>
          Leave
        </Button>
      </div>
    </Dialog>
  );
}
