/** All tabs of a browser share one session. */
export type TabMessage = { kind: "signed in"; username: string } | { kind: "signed out" };

const channel = new BroadcastChannel("gantry-session");

export function tellOtherTabs(message: TabMessage): void {
  channel.postMessage(message);
}

export function onOtherTabs(listener: (message: TabMessage) => void): void {
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => listener(data);
}
