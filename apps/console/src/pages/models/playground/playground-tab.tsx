import type { ModelCard } from "@gantry/sdk";
import { useState } from "react";
import { ViewSwitch } from "../../../ui/view-switch.tsx";
import { Chat } from "../chat/chat.tsx";
import { newId, storeConversation } from "../chat/chat-store.ts";
import { conversationIn, isForChat, mayChat } from "../chat/conversation.rules.ts";
import type { Chat as ChatState } from "../chat/use-chat.ts";
import { History } from "../history/history.tsx";
import { useModelAddress } from "../use-model-address.ts";
import type { FormField } from "./input-form.rules.ts";
import { Playground } from "./playground.tsx";
import type { ShownForm } from "./use-form-values.ts";
import type { ShownRun } from "./use-run.ts";

interface PlaygroundTabProps {
  card: ModelCard;
  fields: readonly FormField[];
  form: ShownForm;
  shown: ShownRun;
  chat: ChatState;
}

const views = [
  { value: "chat", label: "Chat" },
  { value: "form", label: "Form" },
] as const;

/** A chat for text models, a form for all others. Text models have both. */
export function PlaygroundTab({ card, fields, form, shown, chat }: PlaygroundTabProps) {
  const { search, change } = useModelAddress();
  const [draft, setDraft] = useState("");
  const hasFormState = search.f !== undefined || search.from !== undefined || search.run !== undefined;
  const usual = isForChat(card) && !hasFormState ? "chat" : "form";
  const view = mayChat(card) ? (search.view ?? usual) : "form";

  const openConversation = (input: Readonly<Record<string, unknown>>): boolean => {
    const kept = mayChat(card) ? conversationIn(input) : undefined;
    if (!kept) return false;
    const id = newId();
    storeConversation(id, kept.past);
    setDraft(kept.draft);
    change({ chat: id, view: "chat", from: undefined });
    return true;
  };
  return (
    <div className="flex flex-col gap-4">
      {mayChat(card) && (
        <div className="flex justify-end">
          <ViewSwitch
            label="View of the playground"
            options={views}
            value={view}
            onValue={(wanted) => change({ view: wanted })}
          />
        </div>
      )}
      {view === "chat" ? (
        <Chat card={card} chat={chat} draft={draft} />
      ) : (
        <Playground card={card} fields={fields} form={form} shown={shown} onConversation={openConversation} />
      )}
      <History
        model={card.endpoint_id}
        onReuse={(from) => {
          change({ from, view: "form" });
          scrollTo({ top: 0, behavior: "smooth" });
        }}
      />
    </div>
  );
}
