import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import type { WritePreview as Preview } from "./write-preview.rules.ts";
import { WritePreview } from "./write-preview.tsx";

interface WriteQuestionProps {
  preview: Preview;
  isBusy: boolean;
  onConfirm(): void;
  onClose(): void;
}

export function WriteQuestion({ preview, isBusy, onConfirm, onClose }: WriteQuestionProps) {
  const { tenant, destructive } = preview;
  return (
    <Dialog
      open
      wide
      // What is being sent cannot be called back.
      onClose={() => isBusy || onClose()}
      title={`Send this to ${tenant}?`}
      description="This is all that would be sent. Secrets are hidden here, not in what is sent."
    >
      <div className="flex flex-col gap-3">
        {destructive && <Notice tone="bad" title="What this takes away cannot be brought back" />}
        <WritePreview preview={preview} />
      </div>
      <div className="mt-4 flex justify-end gap-2">
        <Button disabled={isBusy} onClick={onClose}>
          Cancel
        </Button>
        <Button kind={destructive ? "danger" : "primary"} busy={isBusy} onClick={onConfirm}>
          {destructive ? "Yes, for good" : "Yes, send it"}
        </Button>
      </div>
    </Dialog>
  );
}
