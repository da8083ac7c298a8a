/**
 * Takes the pictures of the console in docs/images: starts a server with sample data on a free port and opens the main
 * pages in Chromium, light and dark. Usage: node scripts/make-screenshots.mjs [page ...]
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { withSampleServer } from "./sample-server.mjs";
import { root } from "./set-up.mjs";

const size = { width: 1280, height: 800 };
const quality = 72;
const largestBytes = 150 * 1024;

/** The playground shows more with a result. */
async function paint(page) {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page
    .getByText(/^Cost \$/)
    .first()
    .waitFor({ timeout: 60_000 });
  await page.waitForLoadState("networkidle");
}

/** Name of the picture, path in the console, and what to do before it is taken. */
const pages = [
  { name: "overview", path: () => "/" },
  { name: "playground", path: () => "/models/gantry/image", act: paint },
  { name: "predictions", path: () => "/predictions" },
  { name: "prediction", path: ({ prediction }) => `/predictions/${prediction}` },
  { name: "usage", path: () => "/usage" },
  { name: "agent", path: ({ agent }) => `/agents/${agent}?tab=edit` },
  { name: "run", path: ({ run }) => `/runs/${run}` },
  { name: "approvals", path: () => "/approvals" },
  { name: "keys", path: () => "/keys" },
  { name: "search", path: () => "/models", act: (page) => page.keyboard.press("Control+k") },
];

async function takeAll({ sample, open }, wanted) {
  for (const theme of ["light", "dark"]) {
    const page = await open({ viewport: size, colorScheme: theme, reducedMotion: "reduce" });
    for (const { name, path, act } of wanted) {
      await page.goto(`/console${path(sample)}`);
      await page.locator("h1").first().waitFor();
      await page.waitForLoadState("networkidle", { timeout: 3_000 }).catch(() => {});
      await act?.(page);
      // Charts and pictures fade in.
      await page.waitForTimeout(800);
      const file = join(root, "docs", "images", `${name}-${theme}.jpg`);
      await page.screenshot({ path: file, type: "jpeg", quality });
      const bytes = (await stat(file)).size;
      if (bytes > largestBytes) throw new Error(`${file} has ${bytes} bytes, more than ${largestBytes}`);
      console.log(`${name}-${theme}.jpg ${Math.round(bytes / 1024)} kB`);
    }
    await page.context().close();
  }
}

const names = process.argv.slice(2);
const wanted = pages.filter(({ name }) => names.length === 0 || names.includes(name));
await withSampleServer((server) => takeAll(server, wanted));
