/** One queue: why it stands still if it does, how fast it goes, its lines, limits and settings. */
import { api } from "../../api/client.ts";
import type { QueueDetails, Stats } from "../../api/types.ts";
import { Figure } from "../../components/figure.tsx";
import { Content } from "../../components/states.tsx";
import { Relative, Time } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { useNow } from "../../state/clock.ts";
import { href } from "../../state/router.ts";
import { useMay } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { count, rate } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";
import { Charts } from "../overview/charts.tsx";
import { Lines } from "./lines.tsx";
import { pauseFirst } from "./pause-first.ts";
import { QueueSettings } from "./queue-settings.tsx";

export function QueuePage({ queue }: { queue: string }) {
  const details = useLoad(queue, (signal) => api.queues.get(queue, signal), 2_000);
  const stats = useLoad(
    `stats ${queue}`,
    (signal) => api.stats({ queue, lastMs: 15 * 60_000 }, signal),
    10_000,
  );
  return (
    <Content of={details}>
      {(found) => (
        <div class="stack">
          <div class="say">
            <h1>{queue}</h1>
            <p class="soft">
              <a href={href(["jobs"], { q: `queue:${queue}` })}>its jobs</a>
            </p>
            <span class="sp" />
            <Steering queue={found} reload={details.reload} />
          </div>
          <Holds queue={found} />
          <Numbers queue={found} stats={stats.data} />
          <Content of={stats}>{(data) => <Charts stats={data} />}</Content>
          <div class="split">
            <Lines queue={queue} />
            <QueueSettings queue={found} reload={details.reload} />
          </div>
        </div>
      )}
    </Content>
  );
}

function Holds({ queue }: { queue: QueueDetails }) {
  if (queue.holds.length === 0) return null;
  return (
    <div class="why">
      <b>Why does it stand still?</b>
      {queue.holds.map(({ owner, reason, by, until, since }) => (
        <div key={owner} class="any">
          {owner === "pause" ? "It is paused" : `It is held by ${owner}`}
          {by !== null && ` by ${by}`}: {reason === "" ? "no reason was given" : reason}. Since{" "}
          <Time at={since} />,{" "}
          {until === null ? (
            "until it is released"
          ) : (
            <>
              until <Time at={until} /> (<Relative at={until} />)
            </>
          )}
          .
        </div>
      ))}
    </div>
  );
}

function Numbers({ queue, stats }: { queue: QueueDetails; stats: Stats | null }) {
  const now = useNow();
  const lately = (stats?.series ?? []).slice(-6, -1);
  const ended = lately.reduce(
    (sum, { succeeded, dead, cancelled }) => sum + succeeded + dead + cancelled,
    0,
  );
  const perSecond = lately.length === 0 ? 0 : ended / (lately.length * 60);
  const drained =
    queue.ready === 0
      ? "nothing is ready"
      : perSecond === 0
        ? "nothing ended lately"
        : `drained in ${duration((queue.ready / perSecond) * 1000)}, at this pace`;
  const age = queue.oldestReadyAt === null ? null : now - Date.parse(queue.oldestReadyAt);
  const q = `queue:${queue.queue}`;
  return (
    <div class="strip">
      <Figure
        name="Oldest waiting"
        value={age === null ? "none" : duration(age)}
        about={
          age === null ? "nothing is ready" : queue.holds.length > 0 ? "held" : "since it was due"
        }
        tone={age !== null && age > 300_000 ? "warn" : ""}
        href={href(["jobs"], { q: `${q} status:waiting`, order: "oldest" })}
      />
      <Figure
        name="Ready"
        value={count(queue.ready)}
        about={`${count(queue.delayed)} due later`}
        href={href(["jobs"], { q: `${q} status:waiting` })}
      />
      <Figure
        name="Running"
        value={count(queue.active)}
        {...(queue.maxActive !== null && { unit: `of ${count(queue.maxActive)}` })}
        about={`${count(queue.retrying)} retrying`}
        href={href(["jobs"], { q: `${q} status:processing` })}
      />
      <Figure
        name="Finished per second"
        value={rate(perSecond)}
        about={drained}
        href={href(["jobs"], { q: `${q} status:succeeded` })}
      />
      <Figure
        name="Dead"
        value={count(queue.dead)}
        about={`${count(queue.succeeded)} succeeded, kept`}
        tone={queue.dead > 0 ? "bad" : ""}
        href={href(["dead-letters"], { queue: queue.queue })}
      />
    </div>
  );
}

function Steering({ queue, reload }: { queue: QueueDetails; reload: () => void }) {
  const mayOperate = useMay("operator");
  if (!mayOperate) return null;
  const name = queue.queue;
  const isPaused = queue.holds.some(({ owner }) => owner === "pause");
  const resume = async () => {
    if (await act(() => api.queues.resume({ queue: name }), `Queue ${name} goes on.`)) reload();
  };
  return (
    <span class="acts">
      {isPaused ? (
        <button type="button" class="btn p" onClick={() => void resume()}>
          Resume
        </button>
      ) : (
        <button type="button" class="btn" onClick={() => void pauseFirst({ queue: name }, reload)}>
          Pause
        </button>
      )}
    </span>
  );
}
