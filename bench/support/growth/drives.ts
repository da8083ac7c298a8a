import type { Database } from "../../../apps/server/src/engines/database/index.ts";
import type { Client, Dimension } from "./dimension.ts";

const filesOfFolder = 10;
const driveOf = (n: number): string => `drv_01jc0000000000000000000${String(n).padStart(3, "0")}`;
const [plain, indexed, doomed] = [driveOf(1), driveOf(2), driveOf(3)];
const words =
  "amber basin cedar delta ember fjord grove haven islet jetty knoll lagoon meadow north ocean prairie quarry ridge shore tundra".split(
    " ",
  );

/** Half of the files are in `/all`, the others in folders of ten. */
async function fill({ sql }: Database, size: number, adminId: string): Promise<void> {
  const drives = [plain, indexed, doomed];
  await sql`
    insert into drives (id, owner_id, name, created_at)
    select id, ${adminId}, id, now() from unnest(${drives}::text[]) id`;
  await sql`
    insert into drive_items (drive_id, path, parent, type, created_at, updated_at)
    select id, path, '/', 'directory', now(), now() from unnest(${drives}::text[]) id,
      (select '/all' as path union all select '/f' || n from generate_series(0, ${size / 2 / filesOfFolder}::int) n) f`;
  await sql`
    insert into drive_items (drive_id, path, parent, type, blob_key, size, content_type, etag, created_at, updated_at)
    select id, parent || '/file-' || n || '.md', parent, 'file', 'drives/' || id || '/' || n, 100, 'text/markdown', 'e', now(), now()
    from unnest(${drives}::text[]) id, generate_series(0, ${size - 1}::int) n
    cross join lateral (select case when n % 2 = 0 then '/all' else '/f' || n / 2 / ${filesOfFolder}::int end as parent) p`;
  await sql`insert into upload_totals (user_id, bytes) values (${adminId}, ${size * 300}::bigint)`;
  await sql`
    insert into drive_indexes (drive_id, owner_id, key_id, chunks, version, created_at, updated_at)
    values (${indexed}, ${adminId}, 'key_bench', ${size}::int, 1, now(), now())`;
  await sql`
    insert into drive_index_files (drive_id, path, blob_key, status, chunks, due_at, updated_at)
    select drive_id, path, blob_key, 'indexed', 1, now(), now() from drive_items where drive_id = ${indexed} and type = 'file'`;
  await sql`
    insert into drive_chunks (drive_id, path, n, line_from, line_to, text, generation)
    select ${indexed}, path, 0, 1, 10, 'word' || i || ' ' || (${words}::text[])[1 + i % 20] || ' ' || (${words}::text[])[1 + i / 20 % 20], 1
    from (select path, row_number() over (order by path) as i from drive_index_files where drive_id = ${indexed}) f`;
}

const file = (drive: string, path: string): string => `/v1/drives/${drive}/files${path}`;
const create = (client: Client, drive: string, path: string) =>
  client.call("POST", `/v1/drives/${drive}/files`, { form: { path, file: new Blob(["some text"]) } });
const replace = (client: Client, path: string) => client.call("PUT", file(plain, path), { body: "some text" });
const listed = "The total counts the folder's entries in an index.";
const all = "All files of it are deleted.";

export const drives: Dimension = {
  name: "files",
  sizes: [100, 100_000],
  fill,
  startGrows: "Compares indexed files with their drives.",
  env: { GANTRY_UPLOAD_BYTES_PER_USER: "1000000000000" },
  operations: (size) => [
    {
      name: "list drives",
      run: (client) => client.call("GET", "/v1/drives"),
      grows: "Counts the indexed files of each drive.",
    },
    { name: "read a drive", run: (client) => client.call("GET", `/v1/drives/${plain}`) },
    { name: "list a folder of ten", run: (client) => client.call("GET", `/v1/drives/${plain}/items?path=/f0`) },
    {
      name: "list a folder with half of the files",
      run: (client) => client.call("GET", `/v1/drives/${plain}/items?path=/all&limit=50`),
      grows: listed,
    },
    {
      name: "list that folder, the last page",
      run: (client) => client.call("GET", `/v1/drives/${plain}/items?path=/all&limit=50&offset=${size / 2 - 50}`),
      grows: "Pages are numbered: a page reads those before it.",
    },
    { name: "write a new file", run: (client, _item, n) => create(client, plain, `/all/new-${n}.txt`) },
    { name: "write a new file in a new folder", run: (client, _item, n) => create(client, plain, `/new/${n}/one.txt`) },
    { name: "replace a file", run: (client) => replace(client, "/all/new-0.txt") },
    { name: "read a file", run: (client) => client.call("GET", file(plain, "/all/new-0.txt")) },
    { name: "delete a file", run: (client, _item, n) => client.call("DELETE", file(plain, `/all/new-${n}.txt`)) },
    {
      name: "delete a folder of one file",
      run: (client, _item, n) => client.call("DELETE", `/v1/drives/${plain}/tree/new/${n}`),
    },
    {
      name: "write a file of an indexed drive",
      run: (client, _item, n) => create(client, indexed, `/all/new-${n}.txt`),
    },
    {
      name: "search, a rare word",
      run: (client, _item, n) => client.call("GET", `/v1/drives/${indexed}/search?q=word${(n * 37) % size}&mode=text`),
    },
    {
      name: "search, a word of one file in twenty",
      run: (client) => client.call("GET", `/v1/drives/${indexed}/search?q=ember&mode=text`),
      grows: "Ranks the files that contain the word.",
    },
    {
      name: "list indexed files",
      run: (client) => client.call("GET", `/v1/drives/${indexed}/index/files`),
      grows: "The total counts the files.",
    },
    { name: "account, with the quota", run: (client) => client.call("GET", "/api/v2/me") },
    {
      name: "delete a folder with half of the files",
      calls: 1,
      run: (client) => client.call("DELETE", `/v1/drives/${doomed}/tree/all`),
      grows: all,
    },
    { name: "delete a drive", calls: 1, run: (client) => client.call("DELETE", `/v1/drives/${doomed}`), grows: all },
  ],
};
