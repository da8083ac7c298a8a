/** Bounds the time of all rules. Longer text is ignored. */
export const longestRead = 50_000;

const stopWords = new Set(
  (
    "a an the this that these those of to in on at for from by with and or but if then else is are was were be been it " +
    "its as into about your you i me my we our us he she they them his her their will can could should would may might " +
    "must do does did have has had not no so than too very just also any some each all one given using use via when " +
    "which what who whose where why how please return returns value values tool tools"
  ).split(" "),
);

/** Words with the same meaning. The first represents the group. */
const synonyms = [
  ["get", "fetch", "read", "show", "retrieve", "load", "download", "display", "request", "look", "lookup", "check"],
  ["list", "enumerate", "browse"],
  ["search", "find", "query", "google"],
  ["create", "add", "make", "new", "register", "insert"],
  ["delete", "remove", "erase", "drop", "destroy"],
  ["update", "change", "edit", "modify", "set", "patch", "rename"],
  ["write", "save", "store", "put", "record"],
  ["send", "post", "mail", "notify", "publish"],
  ["run", "execute", "call", "invoke", "start", "launch"],
  ["calculate", "compute", "evaluate"],
  ["http", "https", "url", "web", "website"],
  ["person", "user", "member", "people"],
];
const sameAs = new Map(synonyms.flatMap((group) => group.map((word) => [word, group[0] ?? word] as const)));

/** A tool with one of these verbs changes something, so it is called only if the text has the verb. */
const writing = new Set(["create", "delete", "update", "write", "send", "run", "block", "reset", "rotate", "assign"]);

/** Reading verbs may be missing in the text: "the weather" means "get the weather". */
const reading = new Set(["get", "list", "search", "view", "describe"]);

export function stem(word: string): string {
  const lower = word.toLowerCase();
  const direct = sameAs.get(lower);
  if (direct) return direct;
  let short = lower;
  if (short.length > 4 && short.endsWith("ies")) short = `${short.slice(0, -3)}y`;
  else if (short.length > 5 && short.endsWith("ing")) short = short.slice(0, -3);
  else if (short.length > 4 && short.endsWith("ed")) short = short.slice(0, -2);
  else if (short.length > 3 && short.endsWith("s") && !short.endsWith("ss")) short = short.slice(0, -1);
  return sameAs.get(short) ?? sameAs.get(`${short}e`) ?? short;
}

export interface Word {
  stem: string;
  at: number;
}

export function wordsOf(text: string): Word[] {
  return [...text.slice(0, longestRead).matchAll(/[\p{L}\p{N}]+/gu)].map(({ 0: word, index }) => ({
    stem: stem(word),
    at: index,
  }));
}

/** The words of a name in any style: `drive_read`, `getUser`, `server__get-weather`. */
export function nameWords(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== "")
    .map(stem);
}

export function significantWords(text: string): Set<string> {
  const plain = text.slice(0, longestRead).match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(plain.filter((word) => word.length > 1 && !stopWords.has(word.toLowerCase())).map(stem));
}

export function isWritingWord(word: string): boolean {
  return writing.has(word);
}

export function isReadingWord(word: string): boolean {
  return reading.has(word);
}

export function sentencesOf(text: string): string[] {
  const marked = text.slice(0, longestRead).replace(/([.!?])\s+/g, "$1\n");
  return marked
    .split(/\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}
