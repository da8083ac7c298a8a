/** What the tabs of a browser tell each other: they have one session together. */
export type TabNews = { kind: "signed in"; username: string } | { kind: "signed out" };

const channel = new BroadcastChannel("gantry-session");

export function tellOtherTabs(news: TabNews): void {
  channel.postMessage(news);
}

export function onOtherTabs(listener: (news: TabNews) => void): void {
  channel.onmessage = ({ data }: MessageEvent<TabNews>) => listener(data);
}
