import type { AgentCard, AgentRecord, RunLeave } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Bot, MessagesSquare, SquarePen } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useSession } from "../../../shell/session.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Select } from "../../../ui/field.tsx";
import { money } from "../../../ui/format.ts";
import { Loaded } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { furtherCosts } from "../../marketplace/card.rules.ts";
import { RunPermissions } from "../../marketplace/run-permissions.tsx";
import { useWide } from "../../runs/use-wide.ts";
import { agentQuery, isOwn, revisionQuery } from "../agent-queries.ts";
import { type ChatTarget, Conversation } from "./conversation.tsx";
import { ThreadList } from "./thread-list.tsx";

export function AgentChatPage() {
  const { agentId } = useParams({ from: "/app/agents/$agentId/chat/{-$thread}" });
  const agent = useQuery(agentQuery(agentId));
  if (!agent.data) {
    return (
      <Page title="Chat">
        <Loaded query={agent}>{() => null}</Loaded>
      </Page>
    );
  }
  return isOwn(agent.data) ? (
    <OwnChat key={agentId} agent={agent.data} />
  ) : (
    <OthersChat key={agentId} card={agent.data} />
  );
}

/** The published version, or the draft. */
function OwnChat({ agent }: { agent: AgentRecord }) {
  const { id, name, description, published_revision_id: published, latest_revision_id: newest } = agent;
  const [isDraft, setDraft] = useState(published === null);
  const hasBoth = published !== null && published !== newest;
  const revision = useQuery({ ...revisionQuery(id, published ?? ""), enabled: hasBoth && !isDraft });
  const target = (schema: Record<string, unknown>): ChatTarget => ({
    id,
    name,
    description,
    address: id,
    schema,
    body: isDraft ? { revision_id: newest } : {},
  });
  const versions = hasBoth && (
    <Select
      aria-label="Version"
      className="w-auto!"
      value={isDraft ? "draft" : "published"}
      onChange={(event) => setDraft(event.target.value === "draft")}
    >
      <option value="published">Published</option>
      <option value="draft">Draft</option>
    </Select>
  );
  if (hasBoth && !isDraft && !revision.data) {
    return (
      <Page wide title={name} actions={versions}>
        <Loaded query={revision}>{() => null}</Loaded>
      </Page>
    );
  }
  return (
    <Chat
      target={target(hasBoth && !isDraft && revision.data ? revision.data.input_schema : agent.input_schema)}
      actions={versions}
    >
      {published === null && <p className="text-muted text-xs">Not published yet. You're chatting with the draft.</p>}
    </Chat>
  );
}

function OthersChat({ card }: { card: AgentCard }) {
  const { id, name, description, owner, slug, pricing, input_schema } = card;
  const isMine = useSession().username === owner;
  const [granted, setGranted] = useState<readonly RunLeave[]>([]);
  const price = isMine ? 0 : pricing.per_run;
  return (
    <Chat
      target={{
        id,
        name,
        description,
        address: `${owner}/${slug}`,
        schema: input_schema,
        body: { expected_price: pricing.per_run, ...(granted.length > 0 && { connectors: [...granted] }) },
      }}
    >
      {!isMine && (
        <details>
          <summary className="w-fit cursor-pointer rounded text-muted text-xs hover:text-ink">
            {price > 0 ? `${money(price)} per answer` : "Free agent"}
            {furtherCosts(card).length > 0 && ", plus model usage"} · Permissions
          </summary>
          <div className="mt-2 flex flex-col gap-2">
            <RunPermissions card={card} granted={granted} onGranted={setGranted} />
          </div>
        </details>
      )}
    </Chat>
  );
}

/** crypto.randomUUID exists only on HTTPS pages. */
const newThreadId = (): string => `chat-${crypto.getRandomValues(new BigUint64Array(2)).join("-")}`;

interface ChatProps {
  target: ChatTarget;
  actions?: ReactNode;
  children?: ReactNode;
}

function Chat({ target, actions, children }: ChatProps) {
  const { thread } = useParams({ from: "/app/agents/$agentId/chat/{-$thread}" });
  const navigate = useNavigate();
  const isWide = useWide();
  // The id of a new chat is chosen before its first message, and stays when the address names it.
  const [fresh, setFresh] = useState({ id: newThreadId(), isUsed: false });
  if (thread === fresh.id && !fresh.isUsed) setFresh({ ...fresh, isUsed: true });
  if (thread === undefined && fresh.isUsed) setFresh({ id: newThreadId(), isUsed: false });
  const current = thread ?? fresh.id;
  const list = <ThreadList agentId={target.id} thread={thread} />;
  return (
    <Page
      wide
      title={target.name}
      actions={
        <>
          {actions}
          {!isWide && <ChatsButton thread={thread}>{list}</ChatsButton>}
          <Link to="/agents/$agentId" params={{ agentId: target.id }} className={buttonClass()}>
            <Bot size={14} /> Agent
          </Link>
          <Link
            to="/agents/$agentId/chat/{-$thread}"
            params={{ agentId: target.id, thread: undefined }}
            className={buttonClass("primary")}
          >
            <SquarePen size={14} /> New chat
          </Link>
        </>
      }
    >
      <div className="grid gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
        {isWide && (
          <section
            aria-label="Chats"
            className="h-[calc(100dvh-7.5rem)] min-h-80 overflow-y-auto rounded-lg border border-line bg-panel"
          >
            {list}
          </section>
        )}
        <section
          aria-label="Chat"
          className="flex h-[calc(100dvh-12.5rem)] min-h-96 min-w-0 flex-col rounded-lg border border-line bg-panel md:h-[calc(100dvh-7.5rem)]"
        >
          <Conversation
            key={current}
            target={target}
            thread={current}
            isStored={thread !== undefined}
            onStarted={() =>
              void navigate({
                to: "/agents/$agentId/chat/{-$thread}",
                params: { agentId: target.id, thread: current },
                replace: thread === undefined,
              })
            }
          >
            {children}
          </Conversation>
        </section>
      </div>
    </Page>
  );
}

/** The list of chats on narrow screens. */
function ChatsButton({ thread, children }: { thread: string | undefined; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list closes after a choice.
  useEffect(() => setOpen(false), [thread]);
  return (
    <>
      <Button icon={<MessagesSquare size={14} />} onClick={() => setOpen(true)}>
        Chats
      </Button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title="Chats">
        <div className="-mx-5 -mb-5 border-line border-t">{children}</div>
      </Dialog>
    </>
  );
}
