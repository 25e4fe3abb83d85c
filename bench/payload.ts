/** What every contender carries: about 190 bytes of JSON, the size of a small real payload. */
export interface Payload {
  readonly to: string;
  readonly subject: string;
  readonly template: string;
  readonly order: number;
  readonly items: readonly { readonly sku: string; readonly count: number }[];
  /** When it was handed over, by a clock that all processes of this machine share; 0 if nobody asks. */
  readonly at: number;
}

export const JOB_TYPE = "order.shipped";

export function payloadOf(order: number, at = 0): Payload {
  return {
    to: `customer-${order}@example.com`,
    subject: "Your order is on its way",
    template: "order-shipped-v2",
    order,
    items: [
      { sku: "anvil-5kg", count: 2 },
      { sku: "rope-10m", count: 1 },
    ],
    at,
  };
}

export function payloadsOf(from: number, count: number): Payload[] {
  return Array.from({ length: count }, (_, index) => payloadOf(from + index));
}

/** Milliseconds of the machine's monotonic clock: the same in every process, unlike `performance`. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
