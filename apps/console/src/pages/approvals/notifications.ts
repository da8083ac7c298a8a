import { createStore, useStore } from "../../ui/store.ts";

const storageKey = "gantry-notify-approvals";

/** `blocked`: by the browser. `unsupported`: pages without TLS have no notifications. */
export type NotificationState = "on" | "off" | "blocked" | "unsupported";

function read(): NotificationState {
  if (!("Notification" in globalThis)) return "unsupported";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && localStorage.getItem(storageKey) === "on" ? "on" : "off";
}

const state = createStore<NotificationState>(read());

export const useNotificationState = (): NotificationState => useStore(state);

/** Only on a click: browsers, and people, dislike pages that ask by themselves. */
export async function turnOnNotifications(): Promise<void> {
  if ((await Notification.requestPermission()) === "granted") localStorage.setItem(storageKey, "on");
  state.set(read());
}

export function turnOffNotifications(): void {
  localStorage.removeItem(storageKey);
  state.set(read());
}

/** `tag`: several tabs show the same notification once. */
export function notify(title: string, { body, tag, onOpen }: { body: string; tag: string; onOpen(): void }): void {
  if (read() !== "on") return;
  try {
    const shown = new Notification(title, { body, tag });
    shown.onclick = () => {
      window.focus();
      shown.close();
      onOpen();
    };
  } catch {
    // Chrome on Android allows notifications by service workers only; the badge and the title still tell.
  }
}
