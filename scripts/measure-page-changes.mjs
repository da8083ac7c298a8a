/**
 * Measures how long the console takes from a click in the sidebar to the heading of the page, with sample data. The goal
 * is a median below 200 ms on an idle machine. Usage: node scripts/measure-page-changes.mjs
 */
import { withSampleServer } from "./sample-server.mjs";

const rounds = 5;
const labels = ["Models", "Predictions", "Usage", "Files", "My agents", "Runs", "Drives", "Money", "API keys", "Users"];

/** In the page: the time from the click until the browser has painted another heading. */
const changeTo = (label) => `new Promise((resolve) => {
  const link = [...document.querySelectorAll("nav a")].find((a) => a.textContent.trim().startsWith(${JSON.stringify(label)}));
  const before = document.querySelector("h1");
  const start = performance.now();
  link.click();
  const look = () => {
    const heading = document.querySelector("h1");
    if (heading && heading !== before) requestAnimationFrame(() => resolve(performance.now() - start));
    else requestAnimationFrame(look);
  };
  look();
})`;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

await withSampleServer(async ({ open }) => {
  const page = await open({ viewport: { width: 1280, height: 800 } });
  await page.goto("/console/");
  await page.locator("h1").first().waitFor();
  // The chunks of all pages are loaded while the browser is idle.
  await page.waitForLoadState("networkidle");
  // Each change must be one: a click on the open page changes nothing.
  await page.evaluate(changeTo("Webhooks"));
  const all = [];
  for (const label of labels) {
    const times = [];
    for (let round = 0; round < rounds; round++) {
      await page.evaluate(changeTo("Overview"));
      times.push(await page.evaluate(changeTo(label)));
    }
    all.push(...times);
    console.log(`${label}: ${Math.round(median(times))} ms`);
  }
  console.log(`median of all: ${Math.round(median(all))} ms`);
});
