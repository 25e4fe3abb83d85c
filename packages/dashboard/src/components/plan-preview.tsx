/** A dry run: how many, of which kind, for example these. */
import type { ComponentChildren } from "preact";
import type { Plan } from "../api/types.ts";
import { href } from "../state/router.ts";
import { count, plural } from "../text/numbers.ts";

const SHOWN = 5;

export function PlanPreview({ plan, children }: { plan: Plan; children?: ComponentChildren }) {
  const { action, count: jobs, byCategory, isCut, sample } = plan;
  const kinds = Object.entries(byCategory)
    .sort(([, a], [, b]) => b - a)
    .map(([name, of]) => `${name} ${count(of)}`);
  return (
    <div class="why calm">
      <div class="form">
        <div>
          <b>
            Dry run: {action} would touch {plural(jobs, "job")}
            {isCut ? ", and more fit: it takes 10,000 at a time" : ""}.
          </b>
          {kinds.length > 0 && <div class="soft">{kinds.join(" · ")}</div>}
        </div>
        {sample.length > 0 && (
          <ul class="plain">
            {sample.slice(0, SHOWN).map(({ id, type, queue }) => (
              <li key={id}>
                <a class="mono" href={href(["jobs", id])}>
                  {type}
                </a>{" "}
                <span class="sub mono">
                  {queue} · {id}
                </span>
              </li>
            ))}
          </ul>
        )}
        <div class="row">{children}</div>
      </div>
    </div>
  );
}
