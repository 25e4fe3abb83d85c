/**
 * Which addresses are nobody's on the internet: this machine, private networks, link-local ones (where clouds keep
 * their metadata), carriers' own, multicast, and those that carry an IPv4 address inside. A webhook must not
 * reach them: its URL comes from a configuration that others may write.
 */
import { BlockList, isIP } from "node:net";

const V4: readonly (readonly [string, number])[] = [
  ...([
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
  ] as const),
  ...([
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
  ] as const),
  ...([
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
  ] as const),
  ...([
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 4],
    ["240.0.0.0", 4],
  ] as const),
];
/** Of the only part of IPv6 that is public, what is not: Teredo, documentation, 6to4. */
const V6: readonly (readonly [string, number])[] = [
  ...([
    ["2001::", 23],
    ["2001:db8::", 32],
    ["2002::", 16],
    ["3fff::", 20],
  ] as const),
];
const NAMES = ["localhost", "local", "internal", "localdomain", "home.arpa", "intranet", "lan"];

const blocked = new BlockList();
for (const [net, bits] of V4) blocked.addSubnet(net, bits, "ipv4");
for (const [net, bits] of V6) blocked.addSubnet(net, bits, "ipv6");
const unicast = new BlockList();
unicast.addSubnet("2000::", 3, "ipv6");

/** Of an address as text, without brackets. What is no address is private: nothing is known of it. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return blocked.check(address, "ipv4");
  if (family !== 6) return true;
  const mapped = mappedV4(address);
  if (mapped !== null) return isPrivateAddress(mapped);
  return !unicast.check(address, "ipv6") || blocked.check(address, "ipv6");
}

/** Of the host of a URL: a name that only means something inside, or a private address. */
export function isPrivateHost(host: string): boolean {
  const name = bareHost(host);
  if (isIP(name) !== 0) return isPrivateAddress(name);
  // A name without a dot is looked up in the machine's own domain.
  return !name.includes(".") || NAMES.some((inside) => name.endsWith(`.${inside}`));
}

/** As resolvers take it: no brackets, no dot at the end. */
export function bareHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.+$/, "");
}

/** `::ffff:127.0.0.1`, in any spelling: the URL parser and resolvers write it as `::ffff:7f00:1`. */
function mappedV4(address: string): string | null {
  const dotted = /^(?:0*:)*:?(?:0*:)*ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (dotted) return dotted[1] ?? null;
  const hex = /^(?:0*:)*:?(?:0*:)*ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (!hex) return null;
  const [high, low] = [parseInt(hex[1]!, 16), parseInt(hex[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
