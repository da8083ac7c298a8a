import { focusManager } from "@tanstack/react-query";
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { CopyButton } from "./code.tsx";

/** Focused when a dialog opens, rather than its Close button. */
const firstField = "input:not([type=hidden], [type=file], :disabled), select:not(:disabled), textarea:not(:disabled)";

interface DialogProps {
  open: boolean;
  onClose(): void;
  title: string;
  description?: ReactNode;
  wide?: boolean;
  /** Only its own buttons close the dialog, because its content cannot be shown again. */
  staysOpen?: boolean;
  /** What is typed here is not worth a question, such as a password. */
  closesAtOnce?: boolean;
  children: ReactNode;
}

export function Dialog({
  open,
  onClose,
  title,
  description,
  wide = false,
  staysOpen = false,
  closesAtOnce = false,
  children,
}: DialogProps) {
  const opener = useRef<Element>(null);
  /** A form with input that closing would lose, until it is saved and gone. */
  const edited = useRef<Element>(null);
  const isEdited = () => !closesAtOnce && edited.current?.isConnected === true;
  const [isAsking, setAsking] = useState(false);
  if (isAsking && !open) setAsking(false);
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          className={`fixed top-1/2 left-1/2 z-40 max-h-[88vh] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-lg border border-line bg-panel p-5 shadow-xl ${wide ? "max-w-3xl" : "max-w-lg"}`}
          {...(!description && { "aria-describedby": undefined })}
          onInput={({ currentTarget, target }) => {
            // React also bubbles the input of dialogs that this one has opened.
            if (!(target instanceof Element) || !currentTarget.contains(target)) return;
            edited.current = target.closest("form") ?? edited.current;
          }}
          onEscapeKeyDown={(event) => {
            if (!staysOpen && !isEdited()) return;
            event.preventDefault();
            if (!staysOpen) setAsking(true);
          }}
          onInteractOutside={(event) => {
            if (staysOpen || isEdited()) event.preventDefault();
          }}
          onOpenAutoFocus={(event) => {
            opener.current = document.activeElement;
            const field = event.target instanceof Element && event.target.querySelector<HTMLElement>(firstField);
            if (!field) return;
            event.preventDefault();
            field.focus();
          }}
          // Without a Radix trigger the dialog cannot know where focus came from.
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (opener.current instanceof HTMLElement) opener.current.focus();
          }}
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <div className="min-w-0 break-words">
              <Radix.Title className="font-semibold text-base">{title}</Radix.Title>
              {description && <Radix.Description className="mt-1 text-muted">{description}</Radix.Description>}
            </div>
            {!staysOpen && (
              <Radix.Close
                aria-label="Close"
                className="shrink-0 rounded p-1 text-muted hover:bg-sunken hover:text-ink"
              >
                <X size={16} />
              </Radix.Close>
            )}
          </div>
          {children}
          {isAsking && (
            <Dialog open title="Discard your changes?" onClose={() => setAsking(false)}>
              <div className="flex justify-end gap-2">
                <Button onClick={() => setAsking(false)}>Keep editing</Button>
                <Button kind="danger" onClick={onClose}>
                  Discard
                </Button>
              </div>
            </Dialog>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ConfirmButtonProps {
  /** Of the button, and of the confirming button in the dialog. */
  label: string;
  /** Of the row in a table: screen readers hear "Revoke website" instead of one more "Revoke". */
  subject?: string;
  question: string;
  /** The consequences. */
  explanation?: ReactNode;
  /** Label of the button that closes the dialog. */
  cancel?: string;
  icon?: ReactNode;
  quiet?: boolean;
  onConfirm(): Promise<unknown>;
}

/** For actions that cannot be undone. */
export function ConfirmButton({
  label,
  subject,
  question,
  explanation,
  cancel = "Cancel",
  icon,
  quiet = false,
  onConfirm,
}: ConfirmButtonProps) {
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      setOpen(false);
    } catch {
      // The mutation reports its own error; the dialog stays open.
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button
        kind={quiet ? "quiet" : "danger"}
        icon={icon}
        {...(subject && { "aria-label": `${label} ${subject}` })}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={question} description={explanation}>
        <div className="flex justify-end gap-2">
          <Button onClick={() => setOpen(false)}>{cancel}</Button>
          <Button kind="danger" busy={busy} onClick={() => void confirm()}>
            {label}
          </Button>
        </div>
      </Dialog>
    </>
  );
}

interface SecretDialogProps {
  /** Undefined: closed. */
  secret: string | undefined;
  title: string;
  children?: ReactNode;
  onClose(): void;
}

/** Shows a secret that the API returns only once. */
export function SecretDialog({ secret, title, children, onClose }: SecretDialogProps) {
  const isOpen = secret !== undefined;
  useEffect(() => {
    if (!isOpen) return;
    // Pauses background refetching: an ended session would open another dialog over the secret.
    focusManager.setFocused(false);
    return () => focusManager.setFocused(undefined);
  }, [isOpen]);
  return (
    <Dialog
      open={isOpen}
      staysOpen
      onClose={onClose}
      title={title}
      description="Copy it now. You won't be able to see it again."
    >
      <div className="flex items-center gap-2 rounded-md border border-line bg-sunken p-2">
        <code className="min-w-0 flex-1 break-all" data-secret>
          {secret}
        </code>
        <CopyButton text={secret ?? ""} />
      </div>
      {children}
      <div className="mt-4 flex justify-end">
        <Button kind="primary" onClick={onClose}>
          I've copied it
        </Button>
      </div>
    </Dialog>
  );
}
