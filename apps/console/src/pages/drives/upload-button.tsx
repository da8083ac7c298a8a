import { Upload } from "lucide-react";
import { useRef } from "react";
import { Button } from "../../ui/button.tsx";
import { type ChosenFile, chosenFiles } from "./dropped-files.ts";

export function UploadButton({ onChoose }: { onChoose(files: ChosenFile[]): void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button kind="primary" icon={<Upload size={14} />} onClick={() => input.current?.click()}>
        Upload
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          onChoose(chosenFiles(event.target.files ?? []));
          // Lets the user choose the same file again.
          event.target.value = "";
        }}
      />
    </>
  );
}
