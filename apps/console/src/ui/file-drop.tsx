import { Upload } from "lucide-react";
import type { ReactNode } from "react";
import type { ControlProps } from "./field.tsx";
import { useFileDrop } from "./use-file-drop.ts";

interface FileDropProps extends Partial<ControlProps> {
  /** Like the attribute of an input; empty: every file. */
  accept?: string;
  multiple?: boolean;
  disabled?: boolean;
  onFiles(files: File[]): void;
  children: ReactNode;
}

export function FileDrop({
  accept = "",
  multiple = false,
  disabled = false,
  onFiles,
  children,
  ...rest
}: FileDropProps) {
  const take = (files: FileList | null) => {
    const all = [...(files ?? [])];
    if (all.length > 0 && !disabled) onFiles(multiple ? all : all.slice(0, 1));
  };
  const { isOver, handlers } = useFileDrop(({ files }) => take(files));
  return (
    <label
      className={`flex cursor-pointer items-center justify-center gap-2 rounded-md border border-dashed px-3 py-4 text-center text-muted focus-within:outline-2 focus-within:outline-accent has-disabled:cursor-not-allowed has-disabled:opacity-60 has-aria-invalid:border-bad ${isOver ? "border-accent bg-accent-soft" : "border-strong-line hover:bg-sunken"}`}
      {...handlers}
    >
      <Upload size={15} className="shrink-0" aria-hidden />
      <span>{children}</span>
      <input
        {...rest}
        type="file"
        className="sr-only"
        accept={accept}
        multiple={multiple}
        disabled={disabled}
        onChange={(event) => {
          take(event.target.files);
          // Lets the user choose the same file again after removing it.
          event.target.value = "";
        }}
      />
    </label>
  );
}
