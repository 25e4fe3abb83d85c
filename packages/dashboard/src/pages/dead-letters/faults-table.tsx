/** One row for each fault: failures that look alike, whatever their jobs. */
import { useMemo } from "preact/hooks";
import type { FaultGroup } from "../../api/types.ts";
import { Table, type Column } from "../../components/table.tsx";
import { Relative, Tag, type Tone } from "../../components/texts.tsx";
import { currentPlace, href } from "../../state/router.ts";
import { cappedCount } from "../../text/numbers.ts";
import { firstLine } from "../overview/side-panels.tsx";

const STATES: Readonly<Record<FaultGroup["state"], { text: string; tone: Tone } | null>> = {
  open: null,
  resolved: { text: "resolved", tone: "ok" },
  ignored: { text: "ignored", tone: "idle" },
  back: { text: "back", tone: "bad" },
};

function faultHref({ fingerprint }: FaultGroup): string | null {
  if (fingerprint === null) return href(["jobs"], { q: "status:dead" });
  return href(["dead-letters"], { ...currentPlace().params, fault: fingerprint });
}

const COLUMNS: readonly Column<FaultGroup>[] = [
  {
    title: "Fault",
    cell: (fault) => {
      const state = STATES[fault.state];
      return (
        <>
          <a class="main any" href={faultHref(fault) ?? "#/dead-letters"}>
            {firstLine(fault.message)}
          </a>{" "}
          {state && <Tag tone={state.tone}>{state.text}</Tag>}
          <div class="sub mono">{fault.type}</div>
        </>
      );
    },
  },
  { title: "Jobs", isNumber: true, cell: ({ count }) => <b>{cappedCount(count)}</b> },
  {
    title: "Category",
    isWide: true,
    cell: ({ category }) =>
      category === null ? (
        <span class="sub">none</span>
      ) : (
        <Tag tone={category === "unknown" ? "bad" : "warn"}>{category}</Tag>
      ),
  },
  {
    title: "First seen",
    isNumber: true,
    isWide: true,
    cell: ({ firstAt }) => <Relative at={firstAt} />,
  },
  { title: "Last", isNumber: true, cell: ({ lastAt }) => <Relative at={lastAt} /> },
];

interface FaultsTableProps {
  readonly faults: readonly FaultGroup[];
  readonly chosen: string;
  /** Where its links lead depends on what else is chosen. */
  readonly params: string;
}

/** Up to 200 rows, on a page that hears of new numbers every second: they are drawn again when they have changed. */
export function FaultsTable({ faults, chosen, params }: FaultsTableProps) {
  return useMemo(() => tableOf(faults, chosen), [faults, chosen, params]);
}

function tableOf(faults: readonly FaultGroup[], chosen: string) {
  return (
    <Table
      caption="Faults that jobs died of"
      columns={COLUMNS}
      rows={faults}
      keyOf={({ fingerprint, type }) => `${fingerprint ?? ""} ${type}`}
      hrefOf={faultHref}
      isCurrent={({ fingerprint }) => fingerprint !== null && fingerprint === chosen}
    />
  );
}
