const longest = 2048;
const loopbacks: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** Schemes without a dot can belong to the system. These belong to known MCP clients. */
const clientSchemes: ReadonlySet<string> = new Set([
  "claude:",
  "cursor:",
  "vscode:",
  "vscode-insiders:",
  "vscodium:",
  "windsurf:",
  "zed:",
]);

/** Why codes may not be sent to an address; undefined if they may. */
export function redirectProblem(text: string): string | undefined {
  const url = text.length <= longest ? URL.parse(text) : null;
  if (url === null) return `must be an absolute URL of at most ${longest} characters`;
  if (!/^[\x21-\x7e]+$/.test(text)) return "must not contain spaces, control characters or letters outside ASCII";
  if (text.includes("#")) return "must not have a fragment";
  if (url.username !== "" || url.password !== "") return "must not contain a user or a password";
  if (url.protocol === "https:" || isLoopback(url)) return undefined;
  if (url.protocol === "http:") return "must use https, or http on localhost, 127.0.0.1 or [::1]";
  // A scheme with a dot is the reversed domain of its app.
  if (url.protocol.includes(".") || clientSchemes.has(url.protocol)) return undefined;
  return "must use https, http on this computer, or an app's own scheme with a dot, such as com.example.app:/callback";
}

/** Exact, except for the port of a loopback address, which apps choose when they start to listen. */
export function isSameRedirect(registered: string, given: string): boolean {
  if (registered === given) return true;
  const [own, other] = [URL.parse(registered), URL.parse(given)];
  if (own === null || other === null || !isLoopback(own) || redirectProblem(given) !== undefined) return false;
  return withoutPort(own) === withoutPort(other);
}

/** What a person recognizes an address by: its host, or the scheme of an app. */
export function hostOf(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url === null) return "";
  return url.protocol === "https:" || url.protocol === "http:" ? url.host : url.protocol;
}

export function kindOf(redirectUri: string): "web" | "computer" {
  const url = URL.parse(redirectUri);
  return url?.protocol === "https:" ? "web" : "computer";
}

/** The address with the answer to an authorization request. */
export function withAnswer(redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) query.set(name, value);
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${query}`;
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && loopbacks.has(hostname);
}

function withoutPort({ protocol, hostname, pathname, search }: URL): string {
  return `${protocol}//${hostname}${pathname}${search}`;
}
