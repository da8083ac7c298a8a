import { shownUser } from "../../../api/fetch-as-console.ts";
import { type Conversation, restored } from "./conversation.rules.ts";

const keyOf = (id: string) => `gantry-chat-${id}`;

/** Conversations live as long as the tab. */
export function storedConversation(id: string): Conversation | undefined {
  try {
    return restored(JSON.parse(sessionStorage.getItem(keyOf(id)) ?? "null"));
  } catch {
    return undefined;
  }
}

export function storeConversation(id: string, conversation: Conversation): void {
  // Signing out forgets conversations; leaving the page must not bring them back.
  if (shownUser() === undefined) return;
  try {
    sessionStorage.setItem(keyOf(id), JSON.stringify(conversation));
  } catch {
    // Without storage, or when it is full, the conversation is lost on reload.
  }
}

/** crypto.randomUUID exists only on HTTPS pages. */
export const newId = (): string => crypto.getRandomValues(new Uint32Array(2)).join("-");
