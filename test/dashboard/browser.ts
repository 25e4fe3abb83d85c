/** A browser that watches itself: what a page must never do is noted, whoever caused it. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { chromiumBinary } from "../servers/chromium.ts";

const root = new URL("../../", import.meta.url);
export const SHOTS = fileURLToPath(new URL(".cache/dashboard/", root));

export interface Visit {
  readonly page: Page;
  /** Dialogs, errors, refused loads, requests that failed. Empty: all is well. */
  readonly wrongs: string[];
  close(): Promise<void>;
}

export interface VisitOptions {
  readonly url: string;
  /** Null: the server knows who comes, and asks for none. */
  readonly token: string | null;
  /** Before the first page: what a network does to it. */
  readonly prepare?: (context: BrowserContext) => Promise<void>;
  readonly theme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

/** Null: there is no browser here. */
export async function openBrowser(): Promise<Browser | null> {
  const executablePath = await chromiumBinary();
  if (executablePath === null) return null;
  build();
  await mkdir(SHOTS, { recursive: true });
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

/** Before the whole suite it is built already; a single file builds it when there is none. */
function build(): void {
  if (existsSync(new URL("packages/server/dist/dashboard/index.html", root))) return;
  const vite = fileURLToPath(new URL("node_modules/vite/bin/vite.js", root));
  const cwd = fileURLToPath(new URL("packages/dashboard/", root));
  const { status, stderr } = spawnSync(process.execPath, [vite, "build"], { cwd });
  if (status !== 0) throw new Error(`the dashboard could not be built: ${String(stderr)}`);
}

/** Logged in, on the overview. */
export async function visit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { url, token, theme = "light", width = 1440, height = 900 } = options;
  const context = await browser.newContext({
    ...{ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const wrongs = watch(page);
  await noteViolations(context);
  await options.prepare?.(context);
  await page.goto(url + "/");
  if (token !== null) {
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
  }
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  // Before a login the server says that there is none: that is no fault.
  wrongs.length = 0;
  return { page, wrongs, close: () => context.close() };
}

function watch(page: Page): string[] {
  const wrongs: string[] = [];
  page.on("dialog", (dialog) => {
    wrongs.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => wrongs.push(`an error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") wrongs.push(`said: ${message.text()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) wrongs.push(`${response.status()} ${response.url()}`);
  });
  return wrongs;
}

async function noteViolations(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      console.error(`the CSP refused ${violatedDirective} ${blockedURI}`),
    );
  });
}

/** Where something reaches beyond the right edge, of the page or of a table that hides it. */
export async function overflows(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wide = document.documentElement.clientWidth;
    const cut = [...document.querySelectorAll("main .scroll")]
      .filter((one) => one.scrollWidth > one.clientWidth + 1)
      .map((one) => `the table ${one.querySelector("caption")?.textContent} is cut`);
    if (document.documentElement.scrollWidth <= wide) return cut;
    return [...document.querySelectorAll("main *")]
      .filter((one) => one.getBoundingClientRect().right > wide + 1)
      .slice(0, 5)
      .map((one) => `${one.tagName} ${one.className} ${(one.textContent ?? "").slice(0, 40)}`);
  });
}
