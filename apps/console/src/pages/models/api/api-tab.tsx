import type { ModelCard } from "@gantry/sdk";
import { useState } from "react";
import { CodeBlock } from "../../../ui/code.tsx";
import { TextLink, textLinkClass } from "../../../ui/link.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { ViewSwitch } from "../../../ui/view-switch.tsx";
import type { SentInput } from "../playground/form-values.rules.ts";
import { type CallMode, curlCode, modesOf } from "./call-code.rules.ts";
import { openAiBaseUrl, openAiCode } from "./openai-code.rules.ts";
import { pythonCode } from "./python-code.rules.ts";
import { SchemaLink } from "./schema-link.tsx";
import { typescriptCode } from "./typescript-code.rules.ts";

const modes: Record<CallMode, { label: string; explanation: string }> = {
  sync: { label: "Sync", explanation: "Returns the result. Closing the connection cancels the run." },
  stream: { label: "Stream", explanation: "Returns output as it is produced. Closing the connection cancels the run." },
  async: {
    label: "Async",
    explanation: "Returns an id immediately and runs in the background. Use the id to fetch the result.",
  },
};

const languages = [
  { value: "curl", label: "curl" },
  { value: "python", label: "Python" },
  { value: "typescript", label: "TypeScript" },
] as const;
type Language = (typeof languages)[number]["value"];

const highlighted: Record<Language, string> = { curl: "bash", python: "python", typescript: "typescript" };
const labelOf = (language: Language) => languages.find(({ value }) => value === language)?.label ?? language;

export function ApiTab({ card, input }: { card: ModelCard; input: SentInput }) {
  const [language, setLanguage] = useState<Language>("curl");
  const code: Record<Language, (mode: CallMode) => string> = {
    curl: (mode) => curlCode(card, mode, input),
    python: (mode) => pythonCode(card, mode, input),
    typescript: (mode) => typescriptCode(card, mode, input),
  };
  const openAi = openAiCode(card, input);
  const snippet = (text: string, explanation: string) => (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose">{explanation}</p>
        <ViewSwitch label="Language" options={languages} value={language} onValue={setLanguage} />
      </div>
      <CodeBlock label={labelOf(language)} language={highlighted[language]} text={text} />
    </div>
  );
  return (
    <Panel>
      <p className="mb-3 max-w-prose text-muted">
        Uses your current playground input. Set <code>$GANTRY_KEY</code> to an API key;{" "}
        <TextLink to="/keys">create one</TextLink> if needed. Full schema: <SchemaLink model={card.endpoint_id} />.
        Error types:{" "}
        <a href="/docs/errors" target="_blank" rel="noreferrer" className={textLinkClass}>
          reference
        </a>
        .
      </p>
      <Tabs
        tabs={[
          ...modesOf(card).map((mode) => ({
            value: mode as string,
            label: modes[mode].label,
            content: snippet(code[language](mode), modes[mode].explanation),
          })),
          ...(openAi
            ? [
                {
                  value: "openai",
                  label: "OpenAI",
                  content: snippet(
                    openAi[language],
                    `For clients of OpenAI and programs with a custom endpoint. Base URL: ${openAiBaseUrl(card)}, model: ${card.endpoint_id}.`,
                  ),
                },
              ]
            : []),
        ]}
      />
    </Panel>
  );
}
