import { CopyButton } from "./code.tsx";

/** A name that nobody types, and the button that takes it along. */
export function Copied({ text }: { text: string }) {
  return (
    <span className="flex items-center gap-2">
      <code className="min-w-0 break-all">{text}</code>
      <CopyButton text={text} />
    </span>
  );
}
