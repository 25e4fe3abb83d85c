/** How long somebody who opens the page looks at nothing. Each look is a browser without a cache. */
import type { Browser } from "playwright-core";
import { judged, type Figure } from "../server-load/figure.ts";
import { spreadOf } from "../statistics.ts";
import { Client } from "./client.ts";

const LOOKS = 5;
const LINE_MS = 1_000;

export async function measurePaint(
  browser: Browser,
  url: string,
  cookies: Parameters<typeof Client.open>[1],
): Promise<readonly Figure[]> {
  const paints: number[] = [];
  const sentences: number[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    const client = await Client.open(browser, cookies);
    await client.page.goto(`${url}/`);
    await client.page.locator("main .say h1").waitFor();
    await client.page.waitForFunction(
      () => performance.getEntriesByName("first-contentful-paint").length > 0,
    );
    const paint = () =>
      performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN;
    paints.push(await client.page.evaluate(paint));
    let sentence: number | null = null;
    while (sentence === null) sentence = await client.sentenceAt();
    sentences.push(sentence);
    await client.close();
  }
  return [
    figure("first contentful paint", paints),
    figure("the overview's sentence is shown", sentences),
  ];
}

function figure(what: string, ms: readonly number[]): Figure {
  const { median, max } = spreadOf(ms);
  const value = `${Math.round(median)} (${Math.round(max)}) ms`;
  const told = `${what}, median of ${LOOKS} (slowest)`;
  return judged(told, value, `under ${LINE_MS} ms`, median < LINE_MS);
}
