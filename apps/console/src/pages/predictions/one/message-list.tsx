import { CodeBlock } from "../../../ui/code.tsx";
import { pretty } from "../../../ui/json.rules.ts";
import { Markdown } from "../../../ui/markdown/markdown.tsx";
import { KeptFiles } from "./kept-files.tsx";
import type { KeptMessage } from "./kept-input.rules.ts";

const roles: Readonly<Record<string, string>> = {
  system: "System",
  developer: "Developer",
  user: "User",
  assistant: "Assistant",
  tool: "Tool",
};

/** A conversation, oldest message first. */
export function MessageList({ messages }: { messages: readonly KeptMessage[] }) {
  return (
    <ol className="flex flex-col gap-2">
      {messages.map(({ role, text, files, rest }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes.
        <li key={n} className="flex flex-col gap-2 rounded-md border border-line p-3">
          <p className="font-medium text-muted text-xs">{roles[role] ?? role}</p>
          {text !== undefined && (
            <div className="max-h-80 overflow-y-auto">
              <Markdown text={text} />
            </div>
          )}
          {files.length > 0 && <KeptFiles files={files} />}
          {rest.length > 0 && <CodeBlock label="JSON" language="json" text={pretty(rest)} />}
        </li>
      ))}
    </ol>
  );
}
