import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "./button.tsx";
import { CodeText } from "./code-text.tsx";
import { toast } from "./toast.ts";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      // Pages served without TLS have no clipboard.
      toast("Your browser blocked copying. Select the text and copy it yourself.", "warn");
    }
  };
  return (
    <Button kind="quiet" icon={copied ? <Check size={14} /> : <Copy size={14} />} onClick={() => void copy()}>
      {copied ? "Copied" : label}
    </Button>
  );
}

interface CodeBlockProps {
  text: string;
  label: string;
  /** For colours, such as "json"; see `code-highlight.ts`. */
  language?: string;
  /** Wraps long lines instead of scrolling. */
  wrap?: boolean;
}

export function CodeBlock({ text, label, language = "", wrap = false }: CodeBlockProps) {
  return (
    <figure className="overflow-hidden rounded-md border border-line bg-sunken">
      <figcaption className="flex items-center justify-between border-line border-b py-1 pr-1 pl-3 text-muted text-xs">
        {label}
        <CopyButton text={text} />
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled with the keyboard.
        tabIndex={0}
        className={`max-h-96 overflow-auto p-3 font-mono text-xs leading-relaxed -outline-offset-2 ${wrap ? "whitespace-pre-wrap break-words" : ""}`}
      >
        <CodeText text={text} language={language} />
      </pre>
    </figure>
  );
}

/** Code within a text, with the name of its language. */
export function CodeFigure({ text, language }: { text: string; language: string }) {
  return <CodeBlock text={text} label={language || "Code"} language={language.toLowerCase()} />;
}
