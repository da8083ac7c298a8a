import { readFile } from "node:fs/promises";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** `page.md?title` is the first heading of a page. */
const documentTitles: Plugin = {
  name: "document-titles",
  enforce: "pre",
  async load(id) {
    const [file = "", query] = id.split("?");
    if (!new URLSearchParams(query).has("title")) return undefined;
    const [first = ""] = (await readFile(file, "utf8")).split("\n");
    return `export default ${JSON.stringify(first.replace(/^# /, ""))}`;
  },
};

/** `npm run console` serves the console with hot reload and forwards API calls to GANTRY_URL. */
export default defineConfig({
  base: "/console/",
  plugins: [documentTitles, react(), tailwind()],
  build: { target: "es2022", assetsInlineLimit: 0 },
  server: {
    proxy: { "^/(?!console/(?!api/))": { target: process.env.GANTRY_URL ?? "http://127.0.0.1:8080" } },
  },
});
