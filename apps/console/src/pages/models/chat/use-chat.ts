import { GantryError } from "@gantry/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useModelAddress } from "../use-model-address.ts";
import { newId, storeConversation, storedConversation } from "./chat-store.ts";
import { type Answer, type Conversation, emptyConversation, requestOf, type Turn } from "./conversation.rules.ts";
import { streamChat } from "./stream-chat.ts";

/** What a prediction changes. */
const changedQueries = ["predictions", "usage", "me", "expenses", "series"];

/** A conversation with a text model. Leaving the page stops an open answer. */
export function useChat(model: string) {
  const { search, change } = useModelAddress();
  const [conversation, setConversation] = useState<Conversation>(
    () => (search.chat !== undefined && storedConversation(search.chat)) || emptyConversation,
  );
  const latest = useRef(conversation);
  const id = useRef(search.chat);
  const open = useRef<AbortController>(undefined);
  const queries = useQueryClient();

  const show = (next: Conversation) => {
    latest.current = next;
    setConversation(next);
  };
  /** Writes to the storage, and names the conversation in the address. */
  const keep = () => {
    if (id.current === undefined) {
      id.current = newId();
      change({ chat: id.current });
    }
    storeConversation(id.current, latest.current);
  };
  // Back, Forward, or an earlier conversation.
  useEffect(() => {
    if (search.chat === id.current) return;
    open.current?.abort();
    id.current = search.chat;
    const found = (search.chat !== undefined && storedConversation(search.chat)) || emptyConversation;
    latest.current = found;
    setConversation(found);
  }, [search.chat]);
  useEffect(() => () => open.current?.abort(), []);
  useEffect(() => {
    const keepOnLeave = () => id.current !== undefined && storeConversation(id.current, latest.current);
    addEventListener("pagehide", keepOnLeave);
    return () => {
      removeEventListener("pagehide", keepOnLeave);
      keepOnLeave();
    };
  }, []);

  async function ask(question: string, before: readonly Turn[]): Promise<void> {
    if (open.current || question.trim() === "") return;
    const controller = new AbortController();
    open.current = controller;
    const turn: Turn = {
      id: newId(),
      question,
      answer: { text: "", reasoning: "", state: "open", sentAt: Date.now() },
    };
    show({ ...latest.current, turns: [...before, turn] });
    keep();
    const answered = (changed: (answer: Answer) => Partial<Answer>) =>
      show({
        ...latest.current,
        turns: latest.current.turns.map((each) =>
          each.id === turn.id ? { ...each, answer: { ...each.answer, ...changed(each.answer) } } : each,
        ),
      });
    try {
      const pieces = streamChat(requestOf(model, latest.current), {
        signal: controller.signal,
        onAccepted: (predictionId) => answered(() => ({ predictionId })),
      });
      for await (const { text, reasoning } of pieces) {
        answered((answer) => ({
          text: answer.text + text,
          reasoning: answer.reasoning + reasoning,
          firstTextAt: answer.firstTextAt ?? Date.now(),
        }));
      }
      answered(() => ({ state: "done", endedAt: Date.now() }));
    } catch (error) {
      answered(() => ({ endedAt: Date.now(), ...endOf(error, controller.signal) }));
    } finally {
      open.current = undefined;
      keep();
      for (const changed of changedQueries) void queries.invalidateQueries({ queryKey: [changed] });
    }
  }

  return {
    conversation,
    isOpen: conversation.turns.at(-1)?.answer.state === "open",
    set(settings: Partial<Omit<Conversation, "turns">>) {
      show({ ...latest.current, ...settings });
      if (id.current !== undefined) storeConversation(id.current, latest.current);
    },
    ask(question: string): boolean {
      void ask(question, latest.current.turns);
      return true;
    },
    regenerate() {
      const last = latest.current.turns.at(-1);
      if (last) void ask(last.question, latest.current.turns.slice(0, -1));
    },
    stop: () => open.current?.abort(),
    clear() {
      open.current?.abort();
      id.current = undefined;
      show({ ...latest.current, turns: [] });
      change({ chat: undefined });
    },
  };
}

function endOf(error: unknown, { aborted }: AbortSignal): Partial<Answer> {
  if (aborted) return { state: "stopped" };
  if (!(error instanceof GantryError)) throw error;
  const { status, type, message, requestId } = error;
  return { state: "failed", error: { status, type, message, requestId } };
}

export type Chat = ReturnType<typeof useChat>;
