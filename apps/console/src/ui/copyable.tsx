import { CopyButton } from "./code.tsx";

/** An id or address with a copy button. */
export function Copyable({ text }: { text: string }) {
  return (
    <span className="flex items-center gap-2">
      <code className="min-w-0 break-all">{text}</code>
      <CopyButton text={text} />
    </span>
  );
}
