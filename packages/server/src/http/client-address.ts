/**
 * From where a request comes. What a proxy says is believed only of proxies that the options name: anybody can
 * send `X-Forwarded-For`.
 */
import { BlockList, isIP, isIPv6 } from "node:net";
import type { IncomingMessage } from "node:http";

export type AddressOf = (request: Request, incoming: IncomingMessage | undefined) => string;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

export function isLoopback(address: string): boolean {
  const plain = unmapped(address);
  if (plain === "localhost") return true;
  return isIP(plain) !== 0 && LOOPBACK.check(plain, isIPv6(plain) ? "ipv6" : "ipv4");
}

export function addressReader(trustedProxies: readonly string[]): AddressOf {
  const trusted = new BlockList();
  for (const proxy of trustedProxies) {
    const [address = "", bits] = proxy.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  return (request, incoming) => {
    const peer = unmapped(incoming?.socket.remoteAddress ?? "");
    if (peer === "" || !isTrusted(peer)) return peer;
    const hops = (request.headers.get("x-forwarded-for") ?? "").split(",");
    // From the right: each proxy adds whom it heard. The first one that is no proxy of ours is the client.
    for (const hop of hops.reverse()) {
      const address = unmapped(hop.trim());
      if (isIP(address) === 0) break;
      if (!isTrusted(address)) return address;
    }
    return peer;
  };
}

/** One household: an IPv6 client has a whole /64 to itself. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => "0"), ...right];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

function unmapped(address: string): string {
  return address.toLowerCase().startsWith("::ffff:") && address.includes(".")
    ? address.slice(7)
    : address;
}
