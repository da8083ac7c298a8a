import { CodeBlock } from "../../../ui/code.tsx";
import { Markdown } from "../../../ui/markdown/markdown.tsx";
import { shownText } from "./step-content.rules.ts";

/** A result or message: formatted JSON, or Markdown. */
export function TextView({ label, text }: { label: string; text: string }) {
  const shown = shownText(text);
  if (shown.kind === "json") return <CodeBlock wrap label="JSON" language="json" text={shown.text} />;
  if (text === "") return <p className="text-muted">Empty</p>;
  return (
    <section aria-label={label} className="rounded-md border border-line px-3 py-2">
      <Markdown hasTools text={text} />
    </section>
  );
}
