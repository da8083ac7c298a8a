import type { ModelCard } from "@gantry/sdk";
import { RotateCcw } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { ChatComposer } from "../../../ui/chat/chat-composer.tsx";
import { FollowEnd } from "../../../ui/markdown/follow-end.tsx";
import { Empty } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { ChatSettings } from "./chat-settings.tsx";
import { ChatTurn } from "./chat-turn.tsx";
import type { Chat as ChatState } from "./use-chat.ts";

interface ChatProps {
  card: ModelCard;
  chat: ChatState;
  draft: string;
}

export function Chat({ card, chat, draft }: ChatProps) {
  const { conversation, isOpen } = chat;
  const { turns } = conversation;
  const hasEnded = turns.length > 0 && !isOpen;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[1fr_18rem]">
      <Panel
        title="Chat"
        actions={
          <span className="flex gap-1">
            {hasEnded && (
              <Button kind="quiet" icon={<RotateCcw size={14} />} onClick={chat.regenerate}>
                Regenerate
              </Button>
            )}
            {turns.length > 0 && (
              <Button kind="quiet" onClick={chat.clear}>
                Clear
              </Button>
            )}
          </span>
        }
      >
        <div className="flex min-h-[min(28rem,55vh)] flex-col">
          {turns.length === 0 ? (
            <div className="grid flex-1 place-items-center">
              <Empty title={`Chat with ${card.title}`}>Send a message to start. Answers are charged as usual.</Empty>
            </div>
          ) : (
            <div className="flex-1">
              <FollowEnd active={isOpen} label="Conversation" className="max-h-[60vh] pr-1">
                <ol className="flex flex-col gap-6 pb-4">
                  {turns.map((turn) => (
                    <ChatTurn key={turn.id} turn={turn} />
                  ))}
                </ol>
              </FollowEnd>
            </div>
          )}
        </div>
        <div
          data-sticky-bar
          className="sticky bottom-0 z-10 -mx-4 -mb-4 rounded-b-lg border-line border-t bg-panel p-3"
        >
          <ChatComposer
            key={draft}
            isOpen={isOpen}
            disabled={card.capacity === 0}
            placeholder={card.capacity === 0 ? "This model is inactive: its capacity is 0." : "Send a message"}
            draft={draft}
            onAsk={chat.ask}
            onStop={chat.stop}
          />
        </div>
      </Panel>
      <ChatSettings card={card} conversation={conversation} onChange={chat.set} />
    </div>
  );
}
