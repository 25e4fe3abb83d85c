/** A list as most pages have it: what came, or why there is nothing, and the way to more. */
import type { ComponentChildren } from "preact";
import type { Page } from "../api/types.ts";
import type { Loaded } from "../state/use-load.ts";
import { Pager } from "./pager.tsx";
import { Content, Empty } from "./states.tsx";
import { Table, type Column } from "./table.tsx";

interface ListingProps<Row> {
  readonly of: Loaded<Page<Row>>;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly hrefOf?: (row: Row) => string | null;
  /** Without rows. */
  readonly none: string;
  /** What would fill it. */
  readonly hint: ComponentChildren;
  /** Below the rows: "50 failures". Without it the list is whole, and has no further pages. */
  readonly told?: (rows: readonly Row[]) => string;
  /** The link to further rows. */
  readonly next?: string;
}

export function Listing<Row>(props: ListingProps<Row>) {
  const { of, caption, columns, keyOf, hrefOf, none, hint, told, next = "Older" } = props;
  return (
    <Content of={of}>
      {({ items, nextCursor }) => (
        <>
          {items.length === 0 ? (
            <Empty title={none}>{hint}</Empty>
          ) : (
            <Table
              {...{ caption, columns, keyOf, rows: items }}
              {...(hrefOf !== undefined && { hrefOf })}
            />
          )}
          {told !== undefined && (items.length > 0 || nextCursor !== null) && (
            <Pager nextCursor={nextCursor} next={next}>
              {told(items)}
            </Pager>
          )}
        </>
      )}
    </Content>
  );
}
