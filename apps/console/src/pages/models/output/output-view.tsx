import type { FileLink } from "@gantry/sdk";
import { Download } from "lucide-react";
import { buttonClass } from "../../../ui/button.tsx";
import { CodeBlock } from "../../../ui/code.tsx";
import { pretty } from "../../../ui/json.rules.ts";
import { FollowEnd } from "../../../ui/markdown/follow-end.tsx";
import { Markdown } from "../../../ui/markdown/markdown.tsx";
import { fileNameIn } from "./media.rules.ts";
import { MediaView } from "./media-view.tsx";

interface OutputViewProps {
  output: Readonly<Record<string, unknown>>;
  files: Readonly<Record<string, FileLink>>;
}

/** Shows files and strings on their own, and all other values together as JSON. */
export function OutputView({ output, files }: OutputViewProps) {
  const shownFiles = Object.entries(files);
  // The links of a list of files are `name.0`, `name.1` and so on.
  const isFile = (name: string) => Object.hasOwn(files, name) || Object.hasOwn(files, `${name}.0`);
  const others = Object.entries(output).filter(([name]) => !isFile(name));
  const texts = others.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const values = others.filter(([, value]) => typeof value !== "string");
  if (shownFiles.length + others.length === 0) return <p className="text-muted">No output.</p>;
  const isSingle = shownFiles.length + others.length === 1;
  return (
    <div className="flex flex-col gap-4">
      {shownFiles.map(([name, { url }]) => (
        <FileOutput key={name} name={name} url={url} />
      ))}
      {texts.map(([name, text]) => (
        <TextOutput key={name} name={isSingle ? undefined : name} text={text} />
      ))}
      {values.length > 0 && <CodeBlock label="JSON" language="json" text={pretty(Object.fromEntries(values))} />}
    </div>
  );
}

function FileOutput({ name, url }: { name: string; url: string }) {
  const fileName = fileNameIn(url);
  return (
    <figure className="flex flex-col gap-1.5">
      <MediaView url={url} name={fileName} alt={name} />
      <figcaption className="flex items-center justify-between gap-2 text-muted text-xs">
        <span className="min-w-0 truncate">{name}</span>
        <a href={url} download={fileName} target="_blank" rel="noreferrer" className={buttonClass("quiet")}>
          <Download size={14} aria-hidden /> Download
        </a>
      </figcaption>
    </figure>
  );
}

interface TextOutputProps {
  name?: string | undefined;
  text: string;
  streaming?: boolean;
}

export function TextOutput({ name, text, streaming = false }: TextOutputProps) {
  return (
    <div>
      {name !== undefined && <p className="text-muted text-xs">{name}</p>}
      <FollowEnd active={streaming} label={name ?? "Text"}>
        <Markdown text={text} streaming={streaming} hasTools />
      </FollowEnd>
    </div>
  );
}
