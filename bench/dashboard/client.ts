/** One tab that watches itself: long tasks, what its calls to the API took, when its first sentence stood there. */
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";

export interface Span {
  /** By the page's own clock. */
  readonly from: number;
  readonly to: number;
}

export interface LongTask {
  readonly at: number;
  readonly ms: number;
}

/** What the script in the page leaves where it can be read. */
interface Noted {
  readonly tasks: LongTask[];
  sentenceAt: number | null;
}
type Watched = typeof globalThis & { benchNotes: Noted };
type Cookies = Awaited<ReturnType<BrowserContext["storageState"]>>;

export class Client {
  readonly page: Page;
  readonly #cdp: CDPSession;
  /** Milliseconds of each answered call to the API since they were last taken. */
  #answers: number[] = [];
  /** When this measurement itself made the page collect garbage: such a task is not the page's. */
  readonly #collections: Span[] = [];
  readonly refused: string[] = [];

  private constructor(page: Page, cdp: CDPSession) {
    this.page = page;
    this.#cdp = cdp;
    page.on("requestfinished", (request) => {
      const url = request.url();
      // The stream ends when the page does.
      if (url.includes("/api/") && !url.includes("/events")) {
        this.#answers.push(request.timing().responseEnd);
      }
    });
    page.on("response", (response) => {
      if (response.status() >= 400) this.refused.push(`${response.status()} ${response.url()}`);
    });
  }

  static async open(browser: Browser, cookies?: Cookies): Promise<Client> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      ...(cookies && { storageState: cookies }),
    });
    await context.addInitScript(watch);
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    return new Client(page, cdp);
  }

  async logIn(url: string, token: string): Promise<Cookies> {
    await this.page.goto(`${url}/`);
    await this.page.getByLabel("Token").fill(token);
    await this.page.getByRole("button", { name: "Log in" }).click();
    await this.page.locator("main .say h1").waitFor();
    // Before the login the server said that there is none.
    this.refused.length = 0;
    return this.page.context().storageState();
  }

  /** Inside the open page, as a click on a link would. Resolves once its content is there. */
  async go(hash: string): Promise<Span> {
    const from = await this.now();
    await this.page.evaluate((place) => void (location.hash = place), hash);
    await this.settled();
    return { from, to: await this.now() };
  }

  async settled(): Promise<void> {
    await this.page.locator("main").waitFor();
    await this.page.waitForFunction(
      () => document.querySelector("main h1, main .state b, main .panel") !== null,
    );
    await this.page.waitForFunction(() => document.querySelector("main [aria-busy=true]") === null);
  }

  now(): Promise<number> {
    return this.page.evaluate(() => performance.now());
  }

  takeAnswers(): number[] {
    const taken = this.#answers;
    this.#answers = [];
    return taken;
  }

  async longTasks({ from, to }: Span): Promise<readonly LongTask[]> {
    const all = await this.page.evaluate(() => (globalThis as Watched).benchNotes.tasks);
    const isOurs = ({ at, ms }: LongTask) =>
      this.#collections.some((span) => at < span.to && at + ms > span.from);
    return all.filter((task) => task.at >= from && task.at < to && !isOurs(task));
  }

  sentenceAt(): Promise<number | null> {
    return this.page.evaluate(() => (globalThis as Watched).benchNotes.sentenceAt);
  }

  /** Of its JavaScript, after garbage is collected. */
  async heapBytes(): Promise<number> {
    const from = await this.now();
    await this.#cdp.send("HeapProfiler.collectGarbage");
    this.#collections.push({ from, to: await this.now() });
    return (await this.#cdp.send("Runtime.getHeapUsage")).usedSize;
  }

  /** What its thread was busy for since it began, in milliseconds: unlike a long task, whatever else runs here. */
  async busyMs(): Promise<number> {
    const { metrics } = await this.#cdp.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
  }

  async domNodes(): Promise<number> {
    return (await this.#cdp.send("Memory.getDOMCounters")).nodes;
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}

/** Runs in the page, before anything of it. */
function watch(): void {
  const notes: Noted = { tasks: [], sentenceAt: null };
  (globalThis as Watched).benchNotes = notes;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      notes.tasks.push({ at: startTime, ms: duration });
    }
  }).observe({ type: "longtask", buffered: true });
  const watcher = new MutationObserver(() => {
    if (document.querySelector("main .say h1") === null) return;
    watcher.disconnect();
    // After the next frame it is on the screen.
    requestAnimationFrame(() => setTimeout(() => (notes.sentenceAt = performance.now())));
  });
  watcher.observe(document, { childList: true, subtree: true });
}
