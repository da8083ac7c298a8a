import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import type { WritePreview as Preview } from "./write-preview.rules.ts";
import { WritePreview } from "./write-preview.tsx";

interface ConfirmWriteProps {
  preview: Preview;
  isBusy: boolean;
  onConfirm(): void;
  onClose(): void;
}

export function ConfirmWrite({ preview, isBusy, onConfirm, onClose }: ConfirmWriteProps) {
  const { tenant, destructive } = preview;
  return (
    <Dialog
      open
      wide
      // A request in flight cannot be cancelled.
      onClose={() => isBusy || onClose()}
      title={`Send this to ${tenant}?`}
      description="This is the complete request. Secrets are masked here, but sent in full."
    >
      <div className="flex flex-col gap-3">
        {destructive && <Notice tone="bad" title="This can't be undone" />}
        <WritePreview preview={preview} />
      </div>
      <div className="mt-4 flex justify-end gap-2">
        <Button disabled={isBusy} onClick={onClose}>
          Cancel
        </Button>
        <Button kind={destructive ? "danger" : "primary"} busy={isBusy} onClick={onConfirm}>
          {destructive ? "Send (can't be undone)" : "Send"}
        </Button>
      </div>
    </Dialog>
  );
}
