/** What is known of one thing, name by name. */
import type { ComponentChildren } from "preact";
import { Panel } from "./panel.tsx";

/** Null: there is nothing to say. */
export type Fact = readonly [name: string, value: ComponentChildren] | null;

export function FactsPanel({ facts }: { facts: readonly Fact[] }) {
  return (
    <Panel title="Facts" isPadded>
      <dl class="facts">
        {facts
          .filter((fact) => fact !== null)
          .map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
      </dl>
    </Panel>
  );
}
