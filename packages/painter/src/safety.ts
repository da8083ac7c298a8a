/**
 * The content checker: a short word list (`docs/reference/gantry-image.md`), not a classifier. It compares whole words, so
 * "skilled", "Essex", "grape" and "cocktail" pass. Spelling tricks are undone first: digits for letters, look-alike
 * letters, marks and spaces between letters, stretched letters.
 *
 * With `enable_safety_checker: false` only sexual words together with children are refused.
 */
const list = (words: string): string[] => words.trim().split(/\s+/);

const sexual = list(`
  sex sexual sexually sexy porn porno pornography pornographic nude nudes nudity naked topless erotic erotica hentai
  nsfw xxx orgasm orgy genitals genitalia penis vagina blowjob masturbate masturbating masturbation fetish bdsm rape
  raped raping rapist incest bestiality`);
const gore = list(`
  gore gory beheaded beheading decapitated decapitation dismember dismembered dismemberment mutilate mutilated
  mutilation disembowel disemboweled disembowelled entrails torture tortured torturing corpse corpses massacre
  genocide`);
const hate = list("nazi nazis swastika swastikas hitler kkk lynching lynched");
const selfHarm = list("suicide suicidal selfharm");
const minors = list(`
  child children kid kids minor minors underage preteen toddler toddlers infant baby schoolgirl schoolboy teen teens
  teenage teenager boy boys girl girls loli lolita shota`);
const always = list("csam lolicon shotacon pedophile paedophile pedophilia paedophilia");

/** Phrases in which a listed word is harmless. */
const harmless = [
  "same sex",
  "opposite sex",
  "al gore",
  "nude lipstick",
  "nude colour",
  "nude color",
  "naked eye",
  "naked mole rat",
  "rape field",
  "rape blossom",
  "corpse flower",
];

const phrases = ["self harm", "cut myself", "kill myself"];

type Refusal = "sexual content" | "gore" | "hate" | "self-harm" | "sexual content with minors";

const groups: readonly (readonly [Refusal, ReadonlySet<string>])[] = [
  ["sexual content", new Set(sexual)],
  ["gore", new Set(gore)],
  ["hate", new Set(hate)],
  ["self-harm", new Set(selfHarm)],
];
const sexualWords = new Set(sexual);
const minorWords = new Set(minors);
const alwaysWords = new Set(always);

/** Undefined if the prompt is accepted. `enabled` is the field `enable_safety_checker`. */
export function refusalOf(prompt: string, enabled: boolean): Refusal | undefined {
  const readings = foldings(prompt);
  for (const words of readings) {
    const text = ` ${words.join(" ")} `;
    if (words.some((word) => alwaysWords.has(word)) || text.includes(" child porn "))
      return "sexual content with minors";
    const rest = harmless
      .reduce((left, phrase) => left.replaceAll(` ${phrase} `, " "), text)
      .trim()
      .split(" ");
    const sexualFound = rest.some((word) => sexualWords.has(word));
    if (sexualFound && rest.some((word) => minorWords.has(word))) return "sexual content with minors";
    if (!enabled) continue;
    const group = groups.find(([, set]) => rest.some((word) => set.has(word)));
    if (group) return group[0];
    if (phrases.some((phrase) => text.includes(` ${phrase} `))) return "self-harm";
  }
  return undefined;
}

const lookAlikes: Readonly<Record<string, string>> = {
  а: "a",
  е: "e",
  о: "o",
  р: "p",
  с: "c",
  х: "x",
  у: "y",
  і: "i",
  ѕ: "s",
  ԁ: "d",
  ո: "n",
  α: "a",
  ε: "e",
  ο: "o",
  ρ: "p",
  ν: "v",
};
const leet: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
  "|": "i",
};

/** The words of the prompt as written, and with tricks undone. */
function foldings(prompt: string): string[][] {
  const plain = prompt
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]/gu, "")
    .toLowerCase()
    .replace(/[^\p{ASCII}]/gu, (letter) => lookAlikes[letter] ?? letter);
  const asWritten = plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  // Digits and signs count as letters only next to a letter, so "3 cats" is unchanged.
  const unleet = plain.replace(/[\p{L}\d@$!|]+/gu, (word) => (/\p{L}/u.test(word) ? withLetters(word) : word));
  // Single letters in a row are one word: "p o r n", "p.o.r.n".
  const joined = unleet.replace(/(?<![\p{L}\p{N}])\p{L}(?:[^\p{L}\p{N}]{1,2}\p{L}(?![\p{L}\p{N}])){2,}/gu, (run) =>
    run.replace(/[^\p{L}]/gu, ""),
  );
  const words = joined.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const squeezed = words.map((word) => word.replace(/(\p{L})\1{2,}/gu, "$1"));
  return [asWritten, words, squeezed];
}

/** Signs become letters, except exclamation marks at the end of the word. */
function withLetters(word: string): string {
  let end = word.length;
  while (word[end - 1] === "!") end--;
  return word.slice(0, end).replace(/[013457@$!|]/g, (sign) => leet[sign] ?? sign);
}
