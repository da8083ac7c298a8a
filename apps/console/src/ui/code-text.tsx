import { memo, useEffect, useState } from "react";

/** Longer code is shown without colours, which would take too long. */
const longestHighlighted = 40_000;

type Highlight = (text: string, language: string) => string | undefined;
let loaded: Highlight | undefined;

async function loadHighlight(): Promise<Highlight> {
  loaded = (await import("./code-highlight.ts")).highlightedHtml;
  return loaded;
}

/** Code in colours, as soon as the highlighter is loaded. */
export const CodeText = memo(function CodeText({ text, language }: { text: string; language: string }) {
  const [highlight, setHighlight] = useState<Highlight | undefined>(() => loaded);
  const isWanted = language !== "" && text.length <= longestHighlighted;
  useEffect(() => {
    if (!isWanted || highlight) return;
    let isGone = false;
    // Offline, the code stays without colours.
    loadHighlight().then(
      (found) => isGone || setHighlight(() => found),
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [isWanted, highlight]);
  const html = isWanted ? highlight?.(text, language) : undefined;
  if (html === undefined) return <code>{text}</code>;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised to spans with classes.
  return <code dangerouslySetInnerHTML={{ __html: html }} />;
});
