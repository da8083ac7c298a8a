import { fileOf, nameInMenu, slugOf } from "./docs.rules.ts";

/** The pages that belong to this version, each in a chunk of its own. */
const files = import.meta.glob<string>(
  ["../../../../../docs/{start,glossary}.md", "../../../../../docs/{concepts,guides,operate,reference}/**/*.md"],
  { query: "?raw", import: "default" },
);

/** First lines alone, so that the menu does not load every page. */
const titles = import.meta.glob<string>(
  ["../../../../../docs/{start,glossary}.md", "../../../../../docs/{concepts,guides,operate,reference}/**/*.md"],
  { query: "?title", import: "default", eager: true },
);

export const documents: ReadonlyMap<string, { file: string; read(): Promise<string> }> = new Map(
  Object.entries(files).map(([path, read]) => [slugOf(path), { file: fileOf(path), read }]),
);

interface Chapter {
  name: string;
  slugs: readonly string[];
}

const inFolder = (folder: string): string[] =>
  [...documents.keys()].filter((slug) => slug.startsWith(`${folder}/`)).sort();

export const chapters: readonly Chapter[] = [
  { name: "Start", slugs: ["start", "glossary"].filter((slug) => documents.has(slug)) },
  { name: "Concepts", slugs: inFolder("concepts") },
  { name: "Guides", slugs: inFolder("guides") },
  { name: "Operate", slugs: inFolder("operate") },
  { name: "Reference", slugs: inFolder("reference") },
];

const names = new Map(Object.entries(titles).map(([path, title]) => [slugOf(path), nameInMenu(slugOf(path), title)]));

export const nameOfSlug = (slug: string): string => names.get(slug) ?? slug;
