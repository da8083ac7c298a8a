import { newId } from "@gantry/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import { meaningDimensions, meaningVector } from "../../../../test/support/meaning-embeddings.ts";
import { createThreadVectors } from "../../../engines/vectors/thread-vectors.ts";
import { fault } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import { insertIndex } from "./chunks.fixture.ts";
import { createDriveSearch, type DriveSearchDeps, type DriveSearchRequest } from "./search-drive.ts";

const ownerId = "usr_reader";
const [inWords, inVectors, inOther, bare] = [newId("drive"), newId("drive"), newId("drive"), newId("drive")];
const vectors = createThreadVectors();
let database: DriveSearchDeps["database"];
let drop: () => Promise<void>;
let embedQuery: DriveSearchDeps["embedQuery"];

const texts = {
  "/en/pump.md": "The pump vibrates when the bearings are worn. Replace the bearings.",
  "/en/doctor.md": "The Who played a concert in Hall B.",
  "/en/invoice-2024.md": "Payment of INV-2024-0042 is due in thirty days.",
  "/de/haus.md": "Die Häuser am Fluss wurden während der Überschwemmung geräumt.",
  "/jp/note.md": "東京 の会議 は 月曜日 です。",
  "/plain.txt": "Nothing of interest: bearings, O'Brien \\ 50% (half) & more | <less>.",
};

beforeAll(async () => {
  ({ database, drop } = await testDatabase());
  const { sql } = database;
  await sql`insert into users (id, username, role, plan, created_at) values (${ownerId}, 'reader', 'user', 'free', now())`;
  for (const driveId of [inWords, inVectors, inOther, bare])
    await sql`insert into drives (id, owner_id, name, created_at) values (${driveId}, ${ownerId}, ${driveId}, now())`;
  const chunks = Object.entries(texts).map(([path, text]) => ({ path, text, vector: meaningVector(text) }));
  await insertIndex(database, { driveId: inWords, ownerId }, chunks);
  await insertIndex(database, { driveId: inVectors, ownerId, dimensions: meaningDimensions }, chunks);
  await insertIndex(database, { driveId: inOther, ownerId }, [
    { path: "/secret.md", text: `The pump of the other drive, not ${inWords}, with worn bearings.` },
  ]);
});
afterAll(async () => {
  await vectors.close();
  await drop();
});

const search = (text: string, more: Partial<DriveSearchRequest> = {}) =>
  createDriveSearch({
    database,
    vectors,
    embedQuery: (...given) => embedQuery(...given),
    mostQueryCost: async () => 0,
  }).search({
    ownerId,
    driveId: inWords,
    caller: { userId: ownerId } as Caller,
    text,
    limit: 10,
    mode: "text",
    ...more,
  });
const found = async (text: string, more?: Partial<DriveSearchRequest>) =>
  (await search(text, more)).results.map(({ path }) => path);

test.each([
  ["stems of words", "replaced bearing", "/en/pump.md"],
  ["stop words alone", "The Who", "/en/doctor.md"],
  ["numbers of documents", "INV-2024-0042", "/en/invoice-2024.md"],
  ["words of the path", "invoice", "/en/invoice-2024.md"],
  ["other languages", "überschwemmung HÄUSER", "/de/haus.md"],
  ["other scripts", "東京", "/jp/note.md"],
  ["a question with few words of the text", "how often must we oil the pump", "/en/pump.md"],
])("Finds by %s", async (_, text, path) => {
  expect((await found(text))[0]).toBe(path);
});

test("Honors phrases and exclusions", async () => {
  expect(await found("bearings -pump")).toEqual(["/plain.txt"]);
  expect(await found('"the bearings are"')).toEqual(["/en/pump.md"]);
  expect(await found('"are the bearings"')).toEqual([]);
  expect(await found('bearings -"the bearings"')).toEqual(["/plain.txt"]);
  expect(await found("-pump")).toEqual([]);
});

test("Never finds chunks of another drive", async () => {
  expect(await found(`${inWords} pump bearings`)).not.toContain("/secret.md");
  expect(await found("pump", { driveId: inOther })).toEqual(["/secret.md"]);
});

test.each([
  "' or 1=1 --",
  "\\",
  "'''",
  "a:* & | ! ( ) <-> <5>",
  ":A",
  '"',
  '""""" - - -',
  "!".repeat(200),
  "(".repeat(200),
  "a-b-c-d/e/f@g.h http://x.y/z?q=1&r[]=2",
  "\u{1F600}\u200D\uFEFF",
  Array.from({ length: 100 }, (_, n) => `w${n}`).join(" "),
])("Survives %j", async (text) => {
  expect((await search(text)).mode).toBe("text");
});

test("Quotes and backslashes are found as part of the text around them", async () => {
  expect(await found("O'Brien \\ 50%")).toEqual(["/plain.txt"]);
});

test("Falls back to words if vectors are missing or the model fails, and says so", async () => {
  embedQuery = async (_, text) => meaningVector(text);
  const paraphrase = "our impeller shakes";
  const driveId = inVectors;
  expect(await search(paraphrase, { driveId, mode: "hybrid" })).toMatchObject({
    mode: "hybrid",
    results: [{ path: "/en/pump.md" }, ...new Array(5).fill({})],
  });
  expect(await search(paraphrase, { mode: "vector" })).toMatchObject({ mode: "text", results: [] });
  embedQuery = async () => {
    throw fault("downstream_service_error", "The model failed");
  };
  expect(await search("pump", { driveId, mode: "hybrid" })).toMatchObject({ mode: "text", results: [{}] });
  await expect(search("pump", { driveId, mode: "vector" })).rejects.toMatchObject({ type: "downstream_service_error" });
});

test("Vectors that do not fit the memory cost nothing", async () => {
  const asked: string[] = [];
  embedQuery = async (_, text) => {
    asked.push(text);
    return meaningVector(text);
  };
  await database.sql`update drive_indexes set chunks = chunks + 100000000 where drive_id = ${inVectors}`;
  expect(await search("pump", { driveId: inVectors, mode: "hybrid" })).toMatchObject({ mode: "text", results: [{}] });
  await expect(search("pump", { driveId: inVectors, mode: "vector" })).rejects.toMatchObject({ type: "conflict" });
  await database.sql`update drive_indexes set chunks = chunks - 100000000 where drive_id = ${inVectors}`;
  expect(asked).toEqual([]);
});

test("Refuses drives of others and drives without an index; says whether files wait", async () => {
  await expect(search("pump", { ownerId: "usr_other" })).rejects.toMatchObject({ type: "not_found" });
  await expect(search("pump", { driveId: "\0" })).rejects.toMatchObject({ type: "not_found" });
  await expect(search("pump", { driveId: bare })).rejects.toMatchObject({ type: "conflict" });
  expect(await search("pump")).toMatchObject({ isComplete: true });
  await database.sql`update drive_index_files set status = 'pending' where drive_id = ${inWords} and path = '/plain.txt'`;
  expect(await search("pump")).toMatchObject({ isComplete: false });
});
